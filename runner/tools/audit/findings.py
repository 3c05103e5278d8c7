"""The findings of the audit, in the order of its report; a new one is listed here."""

from __future__ import annotations

from runner.tools.audit.defects import (
    history_rule,
    noise_correction,
    random_features,
    released_run,
    released_targets,
    replica_theory,
    shared_uniforms,
    sixteen_states,
    twelve_states,
)

FINDINGS = (
    random_features.unshared_features,
    random_features.shared_features,
    released_targets.flatness,
    released_targets.uniform_beats_published,
    released_run.step_size,
    released_run.ladder_barrier,
    twelve_states.printed_rules,
    twelve_states.released_rule,
    sixteen_states.around_dmala,
    sixteen_states.around_dula,
    twelve_states.acceptance_without_beta,
    twelve_states.reverse_scaled_twice,
    shared_uniforms.shared_uniforms,
    history_rule.history_rules,
    noise_correction.factor,
    released_targets.coverage,
    replica_theory.round_trips,
    replica_theory.replica_counts,
)
