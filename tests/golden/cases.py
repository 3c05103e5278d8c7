"""The table of cases: small runs that together pass through all samplers, targets, metrics and tasks.

A case is one command of ``python -m runner``, or several that share an output root. Commands use the keys
that the README and ``conf/`` document. No case needs a data folder; what files it reads, `tests.golden.files`
writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ULA = "samplers.continuous.ula.ULA"
DMALA = "samplers.discrete.dmala.DMALA"
GIBBS = "samplers.discrete.gibbs.Gibbs"
"""The classes that cases name by their path: where one moves, it is renamed here."""


@dataclass(frozen=True)
class Case:
    """A small computation whose numbers are kept.

    Attributes:
        name: ``group/name``; the group is the file in which its numbers are.
        commands: overrides of ``python -m runner``; ``{model}`` is the model that an earlier one made.
        files: those of `tests.golden.files` that it reads.
        permanent: whether it is part of the test that always runs.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    files: tuple[str, ...] = ()
    permanent: bool = False

    @property
    def group(self) -> str:
        """The file in which its numbers are."""
        return self.name.split("/")[0]

    @property
    def solved(self) -> bool:
        """Whether its numbers come from eigensolvers, which do not give the same bits each time."""
        return any("task=spectral_gap" in argv for argv in self.commands)

    @property
    def float64(self) -> bool:
        """Whether all of it is computed in float64, so that another machine gives nearly the same numbers."""
        return all("dtype=float64" in argv for argv in self.commands)


EXPERIMENTS = tuple(
    sorted(path.stem for path in (Path(__file__).parents[2] / "conf" / "experiment").glob("*.yaml"))
)
"""Every experiment there is."""

SOLVED_EXPERIMENTS = ("reld_proposition1", "reld_theorem1")
"""Those whose runs are spectral gaps: computed in float64 whatever dtype is, see `Case.solved`."""

EXPERIMENT_GROUP = "experiments"


def cases(pattern: str = "*") -> list[Case]:
    """The cases whose name fits a pattern of the shell, in order."""
    return [case for case in CASES if fnmatch(case.name, pattern)]


WIDE = "float64"
SHORT = "scale=smoke task.steps=60 task.chains=8 task.record=2 seed=[0,1]"
LEARN = (
    "task=learn scale=smoke task.iterations=6 task.batch=20 task.chains=12 task.cd_steps=2 "
    "task.ais.temperatures=20 task.ais.chains=12 task.ais.draw_steps=8 task.ais.repeats=2 seed=0"
)
RBM = (
    "target=rbm target.dataset=digits target.n_hidden=6 target.training.iterations=6 "
    "target.training.batch=40 target.training.cd_steps=2 target.ground_truth.steps=20 "
    "target.ground_truth.chains=40 target.ground_truth.keeps=2"
)
DEEP = "target=resnet_ebm target.dataset=strokes.npz target.width=4 target.blocks=2 target.halvings=1"
DEEP_TRAINED = (
    f"{DEEP} target.training.iterations=5 target.training.batch=20 target.training.chains=12 "
    "target.training.buffer=30 target.training.cd_steps=2"
)
BNN = "target=binary_bnn target.n_hidden=4 target.rows=60"
GIVEN = {
    "random_walk": "sampler=random_walk",
    "gibbs": "sampler=gibbs",
    "dula": "sampler=dula sampler.step_size=0.3",
    "dmala": "sampler=dmala sampler.step_size=0.3",
    "acs": "sampler=acs sampler.cycle_length=5 sampler.step_size=1.0 sampler.min_step_size=0.2 "
    "sampler.balancing=0.6",
    "ab": "sampler=ab sampler.step_size=0.5 sampler.balancing=0.7",
    "gwg": "sampler=gwg",
    "hamming_ball": "sampler=hamming_ball sampler.block_size=3 sampler.radius=1",
    "block_gibbs": "sampler=block_gibbs sampler.block_size=2",
    "edula": "sampler=edula sampler.step_size=0.3 sampler.eta=0.5 sampler.auxiliary_step_size=0.05",
    "edmala": "sampler=edmala sampler.step_size=0.3 sampler.eta=0.5 sampler.auxiliary_step_size=0.05",
    "edula_glu": "sampler=edula_glu sampler.step_size=0.3 sampler.eta=0.5",
    "edmala_glu": "sampler=edmala_glu sampler.step_size=0.3 sampler.eta=0.5",
    "pt_dula": "sampler=pt_dula sampler.ladder=[1,0.6,0.3] sampler.step_size=[0.2,0.3,0.5]",
    "pt_dmala": "sampler=pt_dmala sampler.ladder=[1,0.6,0.3] sampler.step_size=[0.2,0.3,0.5]",
    "pt_gibbs": "sampler=pt_gibbs sampler.ladder=[1,0.6,0.3]",
    "pt_edmala": "sampler=pt_edmala sampler.ladder=[1,0.6,0.3] sampler.step_size=[0.2,0.3,0.5] "
    "sampler.kernel.eta=0.5",
    "st_dmala": "sampler=st_dmala sampler.ladder=[1,0.6,0.3] sampler.step_size=0.3 "
    "sampler.log_partition=[0,0.4,0.9]",
}
"""The samplers of discrete targets with all their hyperparameters given."""

TUNED = ("dula", "dmala", "acs", "ab", "edula", "edmala", "edula_glu", "edmala_glu")
TUNED_TEMPERED = ("pt_dula", "pt_dmala", "pt_gibbs", "pt_edmala", "st_dmala")


def is_solved(name: str) -> bool:
    """Whether the case or experiment of this name has its numbers from solvers of linear algebra."""
    group, _, own = name.partition("/")
    if group == EXPERIMENT_GROUP:
        return own in SOLVED_EXPERIMENTS
    return any(case.name == name and case.solved for case in CASES)


def _case(name: str, *commands: str, files: str = "", dtype: str = WIDE, permanent: bool = False) -> Case:
    lines = tuple((*line.split(), f"dtype={dtype}") for line in commands)
    return Case(name, lines, tuple(files.split()), permanent)


def _binary() -> Iterator[Case]:
    """Every sampler of discrete targets on 16 states."""
    for name, sampler in GIVEN.items():
        yield _case(f"binary/{name}", f"target=bernoulli4 {sampler} {SHORT}", permanent=True)
    for name in TUNED:
        short = "task.steps=40 task.chains=8 scale=smoke seed=[0,1]"
        yield _case(f"binary/{name}_tuned", f"target=bernoulli4 sampler={name} {short}")
    for name in TUNED_TEMPERED:
        short = "task.steps=40 task.chains=8 scale=smoke seed=0"
        yield _case(f"binary/{name}_tuned", f"target=bernoulli4 sampler={name} {short}")
    for name in ("exact_draws", "uniform_draws"):
        yield _case(f"binary/{name}", f"target=bernoulli4 sampler={name} {SHORT}", permanent=True)
    yield _case("binary/gibbs_systematic", f"target=bernoulli4 sampler=gibbs sampler.scan=systematic {SHORT}")
    yield _case(
        "binary/block_gibbs_all", f"target=bernoulli4 sampler=block_gibbs sampler.block_size=4 {SHORT}"
    )
    radius = "sampler=hamming_ball sampler.block_size=4 sampler.radius=2"
    yield _case("binary/hamming_ball_radius", f"target=bernoulli4 {radius} {SHORT}")
    options = "sampler=dmala sampler.step_size=0.4 sampler.balancing=0.7 sampler.norm=1.5"
    yield _case("binary/dmala_options", f"target=bernoulli4 {options} {SHORT}")
    yield _case("binary/dmala_acceptance", f"target=bernoulli4 sampler=dmala sampler.acceptance=0.8 {SHORT}")
    partly = {
        "acs_floor": "sampler=acs sampler.cycles=3 sampler.step_size=1.0 sampler.target_acceptance=0.6",
        "acs_balancing": "sampler=acs sampler.cycle_length=4 sampler.balancing=0.6 sampler.zeta=0.3",
        "acs_limit": "sampler=acs sampler.cycle_length=4 sampler.beta_max=0.7",
        "ab_balancing": "sampler=ab sampler.step_size=0.5",
        "ab_step_size": "sampler=ab sampler.balancing=0.8 sampler.acceptance=0.7",
    }
    for name, sampler in partly.items():
        short = "task.steps=40 task.chains=8 scale=smoke seed=[0,1]"
        yield _case(f"binary/partly_tuned_{name}", f"target=bernoulli4 {sampler} {short}")
    flat = "[tv,log_mean_gap,flat_mass,local_entropy,flatness,hessian_spectrum,acceptance,jump,kl,ess,rhat]"
    yield _case(
        "binary/flat_modes", f"target=bernoulli4 {GIVEN['edmala']} metric={flat} {SHORT}", permanent=True
    )
    distance = "metric=[auxiliary_distance,acceptance]"
    yield _case("binary/auxiliary_distance", f"target=bernoulli4 {GIVEN['edula']} {distance} {SHORT}")
    eta = "metric=local_entropy metric.local_entropy.eta=0.5"
    yield _case("binary/local_entropy_eta", f"target=bernoulli4 {GIVEN['dmala']} {eta} {SHORT}")
    seeds = "scale=smoke task.steps=40 task.chains=3 task.burn_in=0 task.record=5 seed=[5,3,4]"
    yield _case("binary/seeds_and_records", f"target=bernoulli4 sampler=gibbs {seeds}", permanent=True)


def _ordinal() -> Iterator[Case]:
    """Samplers on the 101 x 101 grid, where states are compared by mode."""
    grid = {
        "random_walk": "sampler=random_walk",
        "random_walk_far": "sampler=random_walk sampler.step_size=30",
        "gibbs": "sampler=gibbs",
        "dula": "sampler=dula sampler.step_size=25",
        "dmala": "sampler=dmala sampler.step_size=25",
        "acs": "sampler=acs sampler.cycles=4 sampler.step_size=400 sampler.min_step_size=5 "
        "sampler.balancing=0.6",
        "ab": "sampler=ab sampler.step_size=25 sampler.balancing=0.7",
        "gwg": "sampler=gwg",
        "hamming_ball": "sampler=hamming_ball sampler.block_size=1 sampler.radius=1",
        "block_gibbs": "sampler=block_gibbs sampler.block_size=1",
        "edula": "sampler=edula sampler.step_size=25 sampler.eta=20 sampler.auxiliary_step_size=5",
        "edmala": "sampler=edmala sampler.step_size=25 sampler.eta=20 sampler.auxiliary_step_size=5",
        "edula_glu": "sampler=edula_glu sampler.step_size=25 sampler.eta=20",
        "edmala_glu": "sampler=edmala_glu sampler.step_size=25 sampler.eta=20",
        "pt_dmala": "sampler=pt_dmala sampler.ladder=[1,0.3,0] sampler.step_size=[20,80,1000]",
        "pt_gibbs": "sampler=pt_gibbs sampler.ladder=[1,0.3,0.1]",
        "st_dmala": "sampler=st_dmala sampler.ladder=[1,0.5,0.2] sampler.step_size=[20,40,80] "
        "sampler.log_partition=[0,0.5,1.2]",
        "exact_draws": "sampler=exact_draws",
        "uniform_draws": "sampler=uniform_draws",
    }
    # Few evaluate all 101 levels of a coordinate, which takes longer.
    quick = {"dmala", "edmala", "pt_dmala", "exact_draws"}
    for place, (name, sampler) in enumerate(grid.items()):
        target = ("target=mog target.components=4", "target=mos target.components=6")[place % 2]
        yield _case(f"ordinal/{name}", f"{target} {sampler} {SHORT}", permanent=name in quick)
    for energy in ("paper", "log", "released"):
        for target in ("mog", "mos"):
            options = f"target={target} target.components=2 target.energy={energy}"
            yield _case(f"ordinal/{target}_{energy}", f"{options} {grid['dmala']} {SHORT}")
    yield _case("ordinal/dmala_tuned", f"target=mog target.components=2 sampler=dmala {SHORT}")
    yield _case("ordinal/pt_dmala_tuned", f"target=mog target.components=2 sampler=pt_dmala {SHORT}")
    for start in ("uniform", "random", "one_mode"):
        line = f"target=mos target.components=4 sampler=dmala sampler.step_size=25 task.start={start} {SHORT}"
        yield _case(f"ordinal/start_{start}", line)
    single = f"target=mog target.components=4 sampler=dmala sampler.step_size=25 {SHORT}"
    yield _case("ordinal/float32", single, dtype="float32")
    tempered = f"target=mog target.components=4 {grid['pt_dmala']} {SHORT}"
    yield _case("ordinal/float32_tempered", tempered, dtype="float32")
    long = "scale=smoke task.steps=1500 task.chains=5 task.burn_in=100 task.record=4 seed=[0,1,2]"
    few = "metric=[tv,emc,emc_per_sample,ess,ess_mode,rhat,rhat_mode,jump]"
    yield _case("ordinal/thinned_series", f"target=mog target.components=4 {grid['dmala']} {few} {long}")


def _tempering() -> Iterator[Case]:
    """How replicas swap, how their number and temperatures are found, and levels of a single chain."""
    ladder = "sampler.ladder=[1,0.6,0.3,0.1] sampler.step_size=[0.2,0.3,0.5,1.0]"
    metrics = "metric=[tv,acceptance,jump,swap_rate,round_trips,barrier]"
    for rule in ("metropolis", "history", "history_exact", "v1_literal", "corrected"):
        for pairing in ("odd_even", "stochastic", "sequential"):
            target = "target=minibatch" if rule == "corrected" else "target=bernoulli4"
            swap = f"sampler.swap.rule={rule} sampler.swap.pairing={pairing}"
            sampler = "pt_dula" if rule == "history_exact" else "pt_dmala"
            line = f"{target} sampler={sampler} {ladder} {swap} {metrics} {SHORT}"
            yield _case(f"tempering/{rule}_{pairing}", line, permanent=rule != "corrected")
    released = "sampler.swap.rule=released sampler.swap.pairing=sequential"
    yield _case(
        "tempering/released_sequential",
        f"target=bernoulli4 sampler=pt_dmala {ladder} {released} {metrics} {SHORT}",
        permanent=True,
    )
    for rule in ("metropolis", "released"):
        swap = f"sampler.swap.rule={rule} sampler.swap.pairing=sequential"
        line = f"target=bernoulli4 sampler=pt_gibbs sampler.ladder=[1,0.6,0.3] {swap} {metrics} {SHORT}"
        yield _case(f"tempering/gibbs_{rule}", line)
    shared = "sampler.swap.shared_uniform=true"
    yield _case(
        "tempering/shared_uniform",
        f"target=bernoulli4 sampler=pt_dmala {ladder} {shared} {metrics} {SHORT}",
        permanent=True,
    )
    for intensity in ("0", "0.4"):
        swap = f"sampler.swap.intensity={intensity}"
        line = f"target=bernoulli4 sampler=pt_dmala {ladder} {swap} {metrics} {SHORT}"
        yield _case(f"tempering/intensity_{intensity}", line, permanent=True)
    for formula in ("constrained", "v1", "v2"):
        line = f"target=mog target.components=2 sampler=pt_dmala sampler.replicas_formula={formula}"
        yield _case(f"tempering/replicas_{formula}", f"{line} {SHORT}")
    given = "target=mog target.components=2 sampler=pt_dmala sampler.replicas=3"
    yield _case("tempering/replicas_given", f"{given} sampler.step_size=[25,50,100] {SHORT}")
    yield _case("tempering/most_replicas", f"{given[:-2]}=auto sampler.max_replicas=4 {SHORT}")
    steps = (
        "target=mog target.components=2 sampler=pt_dmala sampler.ladder=[1,0.4,0.1] sampler.acceptance=0.4"
    )
    yield _case("tempering/steps_tuned", f"{steps} {SHORT}")
    yield _case("tempering/one_step_size", f"{steps} sampler.step_size=30 {SHORT}")
    for partition in ("inductive", "wang_landau"):
        pilot = f"sampler.partition={partition} sampler.pilot.chains=32 sampler.pilot.steps=40"
        levels = "sampler=st_dmala sampler.ladder=[1,0.5,0.2] sampler.rate=0.3"
        measured = "metric=[tv,level_occupancy,acceptance]"
        line = f"target=bernoulli4 {levels} {measured} {pilot} {SHORT}"
        yield _case(f"tempering/levels_{partition}", line)
        auto = "sampler=st_dmala sampler.pilot.chains=64 sampler.pilot.steps=40 metric=[level_occupancy,jump]"
        line = f"target=mog target.components=2 {auto} sampler.partition={partition} {SHORT}"
        yield _case(f"tempering/ladder_{partition}", line)


def _reals() -> Iterator[Case]:
    """Samplers of targets on the reals."""
    two = "target=stmh_two_modes target.distance=4"
    metrics = "metric=[mean_norm,acceptance,jump,emc,ess,rhat]"
    mixture = "target=gaussian_mixture target.means=[[-2,0],[2,0],[0,3]] target.weights=[0.5,0.3,0.2]"
    pilot = "sampler.pilot.chains=32 sampler.pilot.steps=20"
    yield _case(
        "reals/random_walk",
        f"{two} sampler=random_walk sampler.step_size=0.8 {metrics} {SHORT}",
        permanent=True,
    )
    yield _case(
        "reals/mala", f"{mixture} sampler=mala sampler.step_size=0.5 {metrics} {SHORT}", permanent=True
    )
    yield _case("reals/ula", f"{mixture} sampler=ula sampler.step_size=0.3 {metrics} {SHORT}", permanent=True)
    yield _case("reals/mala_tuned", f"{mixture} sampler=mala {metrics} {SHORT}", permanent=True)
    yield _case("reals/ula_tuned", f"{two} sampler=ula {metrics} {SHORT}")
    yield _case("reals/pt_random_walk", f"{two} sampler=pt_random_walk {SHORT}", permanent=True)
    ladder = "sampler.ladder=[1,0.4,0.15] sampler.step_size=auto"
    yield _case("reals/pt_random_walk_tuned", f"{mixture} sampler=pt_random_walk {ladder} {SHORT}")
    levels = "metric=[level_occupancy,mean_norm,acceptance]"
    for kind in ("coarse", "fine"):
        for sampler in ("stmh", "st_mala"):
            line = f"{two} sampler={sampler} sampler.ladder={kind} {pilot} {levels} {SHORT}"
            yield _case(f"reals/{sampler}_{kind}", line)
    steps = "sampler.ladder=[1,0.5,0.2] sampler.step_size=auto sampler.partition=wang_landau"
    yield _case("reals/stmh_wang_landau", f"{mixture} sampler=stmh {steps} {pilot} {levels} {SHORT}")
    given = (
        "sampler.ladder=[1,0.5] sampler.step_size=[1.0,1.5] sampler.log_partition=[0,0.3] sampler.rate=0.7"
    )
    yield _case("reals/stmh_given", f"{mixture} sampler=stmh {given} {levels} {SHORT}", permanent=True)
    yield _case("reals/st_mala_given", f"{two} sampler=st_mala {given} {levels} {SHORT}", permanent=True)
    yield _case("reals/reld_tuned", f"{two} sampler=reld {SHORT}")
    yield _case("reals/mreld_tuned", f"{mixture} sampler=mreld {SHORT}")
    hot = "sampler.step_size=0.2 sampler.tau=3 sampler.rho=2 sampler.scale=3"
    yield _case("reals/reld_given", f"{two} sampler=reld {hot} {SHORT}", permanent=True)
    hots = "sampler.step_size=0.2 sampler.tau=[1,2,4,8] sampler.rho=2"
    yield _case("reals/mreld_given", f"{mixture} sampler=mreld {hots} {SHORT}", permanent=True)
    unadjusted = f"sampler=reld sampler.kernel._target_={ULA} sampler.step_size=0.1"
    yield _case("reals/reld_unadjusted", f"{two} {unadjusted} {SHORT}")
    yield _case("reals/singular", f"target=singular_mixture sampler=mala sampler.step_size=0.05 {SHORT}")
    plane = "target=singular_mixture target.d=2 target.epsilon=0.5 sampler=reld sampler.step_size=0.1"
    yield _case("reals/singular_plane", f"{plane} {SHORT}")
    for name, covariance in {"each": "[1.0,0.5,2.0]", "matrix": "[[1.0,0.4],[0.4,0.8]]"}.items():
        line = (
            f"{mixture} target.covariance={covariance} sampler=mala sampler.step_size=0.3 {metrics} {SHORT}"
        )
        yield _case(f"reals/covariance_{name}", line)
    near = "metric=mean_norm metric.mean_norm.threshold=2.0 metric.mean_norm.every=2"
    yield _case("reals/threshold", f"{two} sampler=mala sampler.step_size=0.5 {near} {SHORT}", permanent=True)
    start = "target.start=[5.0,5.0] sampler=mala sampler.step_size=0.4 task.burn_in=0"
    yield _case("reals/start_point", f"{two} {start} {metrics} {SHORT}")
    yield _case("reals/start_scale", f"{two} target.start_scale=4.0 sampler=random_walk {metrics} {SHORT}")
    mode = "task.start=one_mode sampler=mala sampler.step_size=0.4"
    yield _case("reals/start_one_mode", f"{two} {mode} {metrics} {SHORT}")
    yield _case("reals/float32", f"{mixture} sampler=mala sampler.step_size=0.5 {SHORT}", dtype="float32")
    yield _case("reals/exact_draws", f"{mixture} sampler=exact_draws {metrics} {SHORT}")


def _tours() -> Iterator[Case]:
    """Tours, whose states are mostly invalid."""
    metrics = "metric=[tour_cost,tour_mismatch,acceptance,jump]"
    tsp = "target=tsp target.cities=6"
    for moves in ("swap", "reverse", "both"):
        line = f"{tsp} sampler=tour_swap sampler.moves={moves} {metrics} {SHORT}"
        yield _case(f"tours/tour_swap_{moves}", line, permanent=True)
    for name in ("dula", "dmala", "edula", "edmala", "gibbs", "gwg"):
        yield _case(f"tours/{name}", f"{tsp} {GIVEN[name]} {metrics} {SHORT}", permanent=name == "edmala")
    swaps = "metric=[tour_cost,tour_mismatch,acceptance,jump,swap_rate,round_trips]"
    ladder = "sampler.ladder=[1,0.5,0.2]"
    yield _case("tours/pt_tour_swap", f"{tsp} sampler=pt_tour_swap {ladder} {swaps} {SHORT}", permanent=True)
    yield _case("tours/pt_tour_swap_tuned", f"{tsp} sampler=pt_tour_swap {swaps} {SHORT}")
    yield _case("tours/exact_draws", f"{tsp} sampler=exact_draws {metrics} {SHORT}")
    one_hot = "target.encoding=one_hot target.instance_seed=3 target.scale=5"
    yield _case(
        "tours/one_hot", f"target=tsp target.cities=4 {one_hot} sampler=dmala sampler.step_size=0.5 {SHORT}"
    )
    for name in ("seven", "matrix"):
        line = f"target=tsp target.file={name}.tsp sampler=tour_swap {metrics} {SHORT}"
        yield _case(f"tours/file_{name}", line, files=f"{name}.tsp")


def _networks() -> Iterator[Case]:
    """Binary networks and the logistic regression with minibatches."""
    metrics = "metric=[predictive_rmse,predictive_log_likelihood,validation_rmse,acceptance,jump]"
    names = (
        "gibbs",
        "dula",
        "dmala",
        "acs",
        "edula",
        "edmala",
        "edula_glu",
        "edmala_glu",
        "gwg",
        "hamming_ball",
    )
    for name in names:
        line = f"{BNN} {GIVEN[name]} {metrics} {SHORT} task.steps=30 task.chains=4"
        yield _case(f"networks/{name}", line, permanent=name in ("dmala", "edmala"))
    yield _case("networks/dmala_tuned", f"{BNN} sampler=dmala {metrics} {SHORT} task.steps=30 task.chains=4")
    split = f"target=binary_bnn target.n_hidden=3 target.split_seed=7 target.scale=30 {GIVEN['dmala']}"
    yield _case("networks/all_rows", f"{split} {metrics} {SHORT} task.steps=30 task.chains=4")
    yield _case("networks/float32", f"{BNN} {GIVEN['edmala']} {metrics} {SHORT}", dtype="float32")
    regression = "target=minibatch target.d=4 target.data=40 target.minibatch=20 target.data_seed=2"
    for name in ("gibbs", "dmala", "pt_dmala"):
        yield _case(f"networks/minibatch_{name}", f"{regression} {GIVEN[name]} {SHORT}", permanent=True)


def _machines() -> Iterator[Case]:
    """Restricted Boltzmann machines: trained, then sampled."""
    short = "scale=smoke task.steps=40 task.chains=8 task.record=2"
    names = ("dula", "dmala", "acs", "ab", "gibbs", "gwg", "hamming_ball", "block_gibbs", "edula", "edmala")
    for name in (*names, "edmala_glu", "pt_dmala", "pt_gibbs", "pt_edmala", "st_dmala"):
        metric = " metric=[level_occupancy,acceptance,jump]" if name == "st_dmala" else ""
        yield _case(f"rbm/{name}", f"{RBM} {GIVEN[name]} {short}{metric} seed=0", permanent=name == "dmala")
    yield _case("rbm/rbm_gibbs", f"{RBM} sampler=rbm_gibbs {short} seed=[0,1]", permanent=True)
    yield _case("rbm/ground_truth_draws", f"{RBM} sampler=ground_truth_draws {short} seed=0", permanent=True)
    ladder = "sampler=pt_rbm_gibbs sampler.ladder=[1,0.7,0.4]"
    yield _case("rbm/pt_rbm_gibbs", f"{RBM} {ladder} {short} seed=0", permanent=True)
    yield _case("rbm/pt_rbm_gibbs_tuned", f"{RBM} sampler=pt_rbm_gibbs {short} seed=0")
    yield _case("rbm/dmala_tuned", f"{RBM} sampler=dmala {short} seed=0")
    yield _case("rbm/float32", f"{RBM} sampler=rbm_gibbs {short} seed=[0,1]", dtype="float32")
    for start in ("uniform", "random", "one_mode"):
        yield _case(f"rbm/start_{start}", f"{RBM} {GIVEN['dmala']} {short} task.start={start} seed=0")
    training = "target.training."
    recipes = {
        "pcd": f"{training}method=pcd",
        "settled": f"{training}averaging=0.9 {training}weight_decay=0.01 "
        f"{training}learning_rate_decay=linear",
        "with_dmala": f"{training}sampler._target_={DMALA} +{training}sampler.step_size=0.2",
        "with_gibbs": f"{training}sampler._target_={GIBBS}",
    }
    for name, recipe in recipes.items():
        yield _case(f"rbm/trained_{name}", f"{RBM} {recipe} sampler=rbm_gibbs {short} seed=0")
    yield _case("rbm/trained_seed", f"{RBM} target.model_seed=3 sampler=rbm_gibbs {short} seed=1")
    for binarisation in ("stochastic", "dynamic"):
        line = f"{RBM} target.binarisation={binarisation} sampler=rbm_gibbs {short} seed=0"
        yield _case(f"rbm/digits_{binarisation}", line)
    own = RBM.replace("digits", "strokes.npz")
    yield _case("rbm/own_images", f"{own} sampler=rbm_gibbs {short} seed=0", files="strokes.npz")
    grey = RBM.replace("digits", "grey.npz") + " target.binarisation=dynamic"
    yield _case("rbm/own_grey", f"{grey} sampler=rbm_gibbs {short} seed=0", files="grey.npz")
    kept = f"target=rbm target.dataset=digits target.model={{model}} {GIVEN['dmala']} {short} seed=0"
    truth = RBM[RBM.index("target.ground_truth") :]
    yield _case("rbm/kept_model", f"{RBM} sampler=rbm_gibbs {short} seed=0", f"{kept} {truth}")
    images = "scale=smoke task.samples=60 task.chains=10 task.thinning=3 task.burn_in=4 seed=[0,1]"
    fit = (
        "task=autoencode task.occlusion=2 task.autoencoder.networks=2 task.autoencoder.epochs=2 "
        "task.autoencoder.batch=20"
    )
    for shown in ("clean", "noisy", "occluded"):
        line = f"{RBM} {GIVEN['dmala']} {fit} task.input={shown} {images}"
        yield _case(f"rbm/autoencode_{shown}", line, permanent=shown == "noisy")
    yield _case("rbm/autoencode_training", f"{RBM} sampler=rbm_gibbs {fit} task.images=training {images}")
    classes = "task=classify task.classifier.epochs=1"
    for source in ("sampler", "training"):
        line = f"{RBM} {GIVEN['dmala']} {classes} task.images={source} {images}"
        yield _case(f"rbm/classify_{source}", line)


def _learning() -> Iterator[Case]:
    """Models that are learned with a sampler, and the likelihood of kept ones."""
    rbm = "target=rbm target.dataset=digits target.n_hidden=6"
    tempered = ("pt_dmala",)
    names = ("dula", "dmala", "acs", "ab", "gibbs", "gwg", "edula", "edmala", *tempered)
    for name in names:
        yield _case(f"learning/rbm_{name}", f"{rbm} {GIVEN[name]} {LEARN}", permanent=name == "dmala")
    yield _case("learning/rbm_layers", f"{rbm} sampler=rbm_gibbs {LEARN} seed=[0,1]", permanent=True)
    yield _case("learning/rbm_cd", f"{rbm} sampler=rbm_gibbs {LEARN} task.method=cd")
    settled = (
        "task.averaging=0.9 task.weight_decay=0.01 task.learning_rate_decay=linear task.learning_rate=0.01"
    )
    yield _case("learning/rbm_settled", f"{rbm} sampler=rbm_gibbs {LEARN} {settled}", permanent=True)
    buffer = "task.buffer=40 task.reinitialisation=0.2 task.warm_up=3"
    yield _case("learning/rbm_buffer", f"{rbm} {GIVEN['dmala']} {LEARN} {buffer}", permanent=True)
    penalties = "task.gradient_penalty=0.1 task.energy_penalty=0.01"
    yield _case("learning/rbm_penalties", f"{rbm} {GIVEN['dmala']} {LEARN} {penalties}", permanent=True)
    validated = "task.validate_every=3 task.validation.temperatures=10 task.validation.chains=6"
    yield _case("learning/rbm_validated", f"{rbm} {GIVEN['dmala']} {LEARN} {validated}", permanent=True)
    yield _case("learning/rbm_tuned", f"{rbm} sampler=dmala {LEARN} task.tune_every=3")
    yield _case(
        "learning/rbm_acs_tuned", f"{rbm} sampler=acs sampler.cycle_length=5 {LEARN} task.tune_every=3"
    )
    yield _case("learning/rbm_dynamic", f"{rbm} target.binarisation=dynamic sampler=rbm_gibbs {LEARN}")
    for schedule in ("sigmoid", "pieces"):
        line = f"{rbm} sampler=rbm_gibbs {LEARN} task.ais.schedule={schedule}"
        yield _case(f"learning/rbm_{schedule}", line)
    yield _case("learning/rbm_float32", f"{rbm} {GIVEN['dmala']} {LEARN}", dtype="float32")
    evaluate = "task=evaluate model={model} scale=smoke task.ais.chains=10 task.ais.draw_steps=8 seed=[0,1]"
    temperatures = "task.ais.temperatures=[0,0.2,0.5,0.8,1]"
    yield _case(
        "learning/rbm_evaluated",
        f"{rbm} sampler=rbm_gibbs {LEARN}",
        f"{evaluate} task.ais.temperatures=15",
        f"{evaluate} {temperatures}",
    )
    deep = f"{DEEP} {LEARN}"
    for name in ("dmala", "acs", "gwg", "pt_dmala"):
        line = f"{deep} {GIVEN[name]} task.buffer=30"
        yield _case(f"learning/deep_{name}", line, files="strokes.npz", permanent=name == "dmala")
    everything = (
        "task.buffer=30 task.reinitialisation=0.1 task.warm_up=2 task.averaging=0.5 "
        "task.gradient_penalty=0.1 task.energy_penalty=0.01 task.weight_decay=0.001 task.learning_rate=0.01"
    )
    yield _case(
        "learning/deep_everything", f"{deep} {GIVEN['dmala']} {everything} {validated}", files="strokes.npz"
    )
    tuned = "sampler=acs sampler.cycle_length=5 task.buffer=30 task.tune_every=3"
    yield _case("learning/deep_tuned", f"{deep} {tuned} {validated}", files="strokes.npz")
    wider = deep.replace("strokes.npz", "digits")
    yield _case("learning/deep_digits", f"{wider} {GIVEN['dmala']} task.buffer=30", dtype="float32")
    grey = deep.replace("strokes", "grey")
    line = f"{grey} target.binarisation=dynamic {GIVEN['dmala']} task.buffer=30"
    yield _case("learning/deep_dynamic", line, files="grey.npz")
    half = f"{deep} target.precision=bfloat16 {GIVEN['dmala']} task.buffer=30"
    yield _case("learning/deep_bfloat16", half, files="strokes.npz", dtype="float32")
    deep_evaluate = f"{evaluate} task.ais.temperatures=15 task.ais.repeats=2"
    other = f"{deep_evaluate} task.ais.sampler._target_={GIBBS} ~task.ais.sampler.step_size"
    line = f"{deep} {GIVEN['dmala']} task.buffer=30"
    yield _case("learning/deep_evaluated", line, deep_evaluate, other, files="strokes.npz")
    short = "scale=smoke task.steps=20 task.chains=6 task.record=2 metric=[acceptance,jump,ess] seed=[0,1]"
    for name in ("dmala", "gwg", "pt_dmala"):
        line = f"{DEEP_TRAINED} {GIVEN[name]} {short}"
        yield _case(f"learning/deep_sampled_{name}", line, files="strokes.npz", permanent=name == "dmala")


def _gaps() -> Iterator[Case]:
    """Spectral gaps, by enumeration and on grids."""
    kernel = "task=spectral_gap scale=smoke target=bernoulli4"
    names = ("gibbs", "dula", "dmala", "ab", "gwg", "hamming_ball", "block_gibbs", "edmala", "random_walk")
    for name in names:
        if name == "edmala":
            continue
        yield _case(f"gaps/{name}", f"{kernel} {GIVEN[name]}", permanent=True)
    yield _case("gaps/gibbs_systematic", f"{kernel} sampler=gibbs sampler.scan=systematic")
    yield _case("gaps/dmala_tuned", f"{kernel} sampler=dmala")
    yield _case("gaps/st_dmala", f"{kernel} {GIVEN['st_dmala']}", permanent=True)
    pair = "sampler.ladder=[1,0.4]"
    yield _case("gaps/pt_gibbs", f"{kernel} sampler=pt_gibbs {pair}", permanent=True)
    yield _case("gaps/pt_dmala", f"{kernel} sampler=pt_dmala {pair} sampler.step_size=[0.2,0.5]")
    yield _case("gaps/level", f"{kernel} {GIVEN['st_dmala']} task.restrict=level", permanent=True)
    yield _case("gaps/states", f"{kernel} sampler=gibbs task.restrict=[[0,0,0,0],[0,0,0,1],[0,0,1,1]]")
    singular = "task=spectral_gap scale=smoke target=singular_mixture target.epsilon=0.3"
    yield _case("gaps/ld", f"{singular} task.method=ld task.grid=201", permanent=True)
    for reference in ("phi", "tempered"):
        line = f"{singular} task.method=reld task.reference={reference} task.tau=3 task.rho=3 task.grid=31"
        yield _case(f"gaps/reld_{reference}", line, permanent=True)
    yield _case(
        "gaps/reld_scale", f"{singular} task.method=reld task.tau=3 task.rho=1 task.scale=2 task.grid=31"
    )
    for choice in ("geometric", "synchronised"):
        line = f"{singular} task.method=mreld task.length=0.3 task.levels=1 task.choice={choice} task.grid=31"
        yield _case(f"gaps/mreld_{choice}", line, permanent=choice == "geometric")
    three = f"{singular} task.method=mreld task.length=0.3 task.levels=2 task.alpha=0.5 task.grid=15"
    yield _case("gaps/mreld_three", three)
    narrow = f"{singular} target.epsilon=0.1 task.length=0.1 task.distance=2.0"
    for method in ("proposition1", "barrier"):
        yield _case(f"gaps/{method}", f"{narrow} task.method={method}", permanent=True)
    yield _case("gaps/ld_mode", f"{singular} task.method=ld task.grid=101 task.restrict=mode", permanent=True)
    ball = "task.method=ld task.grid=101 task.restrict=ball task.radius=1.5"
    yield _case("gaps/ld_ball", f"{singular} {ball}", permanent=True)
    yield _case("gaps/ld_plane", f"{singular} target.d=2 task.method=ld task.box=2.5 task.grid=31")
    mixture = "task=spectral_gap scale=smoke target=gaussian_mixture target.means=[[-1.0],[1.0]]"
    yield _case("gaps/ld_mixture", f"{mixture} task.method=ld task.grid=101")
    tours = "task=spectral_gap scale=smoke target=tsp target.cities=4 sampler=tour_swap"
    yield _case("gaps/tours", tours)
    yield _case(
        "gaps/minibatch", f"task=spectral_gap scale=smoke target=minibatch target.d=5 {GIVEN['dmala']}"
    )


def _all() -> Mapping[str, Case]:
    sources = (_binary, _ordinal, _tempering, _reals, _tours, _networks, _machines, _learning, _gaps)
    found: dict[str, Case] = {}
    for source in sources:
        for case in source():
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return found


CASES = tuple(_all().values())
