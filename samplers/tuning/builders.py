"""Which settings build a kernel's class from a configuration; by their paths, so that nothing is imported."""

SETTINGS = {
    "samplers.discrete.ab.AB": "samplers.tuning.balancing.BalancedSettings",
    "samplers.discrete.acs.ACS": "samplers.tuning.cycle_tuning.CycleSettings",
    "samplers.tempering.parallel_tempering.ParallelTempering": (
        "samplers.tuning.tempered_ladder.LadderSettings"
    ),
    "samplers.tempering.replica_exchange_langevin.ReplicaExchangeLangevin": (
        "samplers.tuning.exchange_time.ExchangeSettings"
    ),
    "samplers.tempering.simulated_annealing.SimulatedAnnealing": (
        "samplers.tuning.annealed_step_sizes.AnnealingSettings"
    ),
    "samplers.tempering.simulated.simulated_tempering.SimulatedTempering": (
        "samplers.tuning.tempered_level_tuning.LevelSettings"
    ),
}
"""Class of a kernel to its `samplers.tuning.tunable.Settings`; of any other the constructor says it all."""
