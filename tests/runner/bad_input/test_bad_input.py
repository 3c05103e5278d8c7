"""What is refused: one sentence with the key, the value and what is allowed, status 2, nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner.__main__ import main
from runner.execution.errors import UserError
from tests.support.commands import Call, check_refused_values, refusal, refused

# Through the whole command line; all other tables here ask the checks themselves.
COMMANDS = [
    ("--config-dir nowhere", "--config-dir must be a folder, 'nowhere' was given"),
    ("--config-name other", "--config-dir"),
    ("sampler=lab.pair.Pair", "sampler takes a name; a class is given as sampler._target_=lab.pair.Pair."),
    ("sampler=gibbs.yaml", "Unknown sampler 'gibbs.yaml'; did you mean 'gibbs'?"),
    ("--frobnicate", "Unrecognized arguments: --frobnicate"),
    ("-m --cfg job", "-m makes many"),
    ("target=mgo", "Unknown target 'mgo'; did you mean 'mog'? Allowed: bernoulli,"),
    ("sampler=dmala sampler.stepsize=3", "did you mean 'sampler.step_size'? sampler=dmala has: acceptance"),
    ("seed=range(0,3)", "is a sweep and needs -m"),
    ("seed", "has the form key=value, 'seed' was given"),
    ("target=mog,", "Cannot read the override 'target=mog,': it ends where a value should follow."),
    ("metric=[kl,tv", "'[kl,tv' is not closed, or goes on with a sign that does not belong there."),
    ("task.steps=)", "')' does not belong there."),
    ("-m seed=range(a=1)", "override 'seed=range(a=1)': missing a required argument: 'start'."),
    (
        "-m +experiment=edlp_table2 row=glob(DULA,K=4)",
        "keyword argument 'K'; a label with commas, brackets or = needs quotes of its own, 'row=",
    ),
    ("-m +experiment=edlp_table2 row=DULA(4)", "Unknown function 'DULA'; allowed: bool,choice,"),
    ("-m +experiment=edlp_table2 +row=DULA=4", "'=' does not belong there; a label with commas,"),
    ("-m +experiment=edlp_table2 row=DULA=4", "'=' does not belong there; a label with commas,"),
    (
        "--experimental-rerun config.pickle",
        "--experimental-rerun computes nothing; repeat the command in a run's manifest.json.",
    ),
    ("--resolve", "--resolve and --package say how --cfg shows the configuration; add --cfg job."),
    ("--package sampler target=mog", "--resolve and --package say how --cfg shows the configuration; add"),
    ("--cfg job --package samplr", "--package must be a key, 'samplr' was given; did you mean 'sampler'?"),
    (
        "-m seed=0,1 +hydra.sweeper.params.seed=3",
        "hydra.sweeper.params.seed is not used: the values of a key stand in the command, such as -m seed=0",
    ),
    ("target=é", "after = there must be a value, in quotes if it has special characters"),
    ("sampler.ladder=[1,", "Cannot read the override 'sampler.ladder=[1,'"),
    (
        "-m +experiment=edlp_table2 sampler=pas",
        "The rows of the experiment edlp_table2 have no sampler=pas; allowed: dmala, dula, edmala,",
    ),
    (
        "-m +experiment=edlp_table2 row=DULA sampler=gwg",
        "The chosen rows of the experiment edlp_table2 have no sampler=gwg; allowed: dula.",
    ),
    (
        "-m +experiment=edlp_table2 sampler=dula,pas,edula,dlp",
        "The rows of the experiment edlp_table2 have no sampler=pas,dlp; allowed: dmala, dula, edmala,",
    ),
    (
        "-m +experiment=edlp_table2 ++sampler=dula,pas",
        "The rows of the experiment edlp_table2 have no sampler=pas; allowed: dmala, dula, edmala,",
    ),
    (
        "-m +experiment=edlp_table2 sampler=glob(a*)",
        "The rows of the experiment edlp_table2 have no sampler=ab,acs; allowed: dmala, dula,",
    ),
    (
        "-m +experiment=edlp_table2 row=GWG,Gibs",
        "Unknown row of the experiment edlp_table2 'Gibs'; did you mean 'Gibbs'? Allowed: DMALA, DULA,",
    ),
    (
        "-m +experiment=pt_table1 row=DMALAx",
        "pt_table1 'DMALAx'; did you mean 'DMALA'? Allowed: \"ACS, step 3672\", \"DMALA, step 0.15\", ",
    ),
    (
        "-m +experiment=edlp_table2 sampler=gibbs sampler.step_size=0.1",
        "The rows of the experiment edlp_table2 have no sampler=gibbs and sampler.step_size=0.1 together.",
    ),
    ("-m +experiment=edlp_figure11 seeds=3", "Unknown key 'seeds'; did you mean 'seed'?"),
    (
        "-m +experiment=pt_table1 row=glob(XT*)",
        "'row=glob(XT*)' fits no row of the experiment pt_table1: DMALA, ACS,",
    ),
    (
        "-m sampler=glob(xy*)",
        "'sampler=glob(xy*)' fits nothing; a pattern chooses among the names of a group.",
    ),
    ("-m target=mog row=DULA", "row chooses rows of an experiment, as in -m +experiment=NAME row=LABEL."),
    ("+experiment=pt_table1 row=DMALA", "row chooses rows of an experiment, as in -m +experiment=NAME row="),
]

NAMES = [
    ("target=", "Unknown target ''"),
    ("target=null", "Unknown target 'null'"),
    ("sampler=dmla", "Unknown sampler 'dmla'; did you mean 'dmala'?"),
    ("sampler=ptdmala", "did you mean 'pt_dmala'?"),
    ("metric=tvv", "Unknown metric 'tvv'; did you mean 'tv'?"),
    ("metric=[kl,emcc]", "Unknown metric 'emcc'; did you mean 'emc'?"),
    ("metric=evaluations", "metric=evaluations must be left out, since every run has its evaluations."),
    ("metric=[tv,seconds]", "metric=seconds must be left out, since every run has its seconds."),
    ("metric=seconds_per_step", "since every run has its seconds_per_step."),
    ("sampler=pt_mala", "Unknown sampler 'pt_mala'; it is written sampler=mala tempering=parallel."),
    ("sampler=st_gibbs", "Unknown sampler 'st_gibbs'; it is written sampler=gibbs tempering=simulated."),
    ("sampler=pt_nothing", "Unknown sampler 'pt_nothing'. Allowed: ab,"),
    ("scale=quik", "Unknown scale 'quik'; did you mean 'quick'?"),
    ("task=sampel", "Unknown task 'sampel'; did you mean 'sample'?"),
    ("logger=wandbb", "did you mean 'wandb'?"),
    ("hydra/launcher=jobli", "Unknown launcher 'jobli'; did you mean 'joblib'?"),
    ("+experiment=pt_tabel1", "did you mean 'pt_table1'?"),
    ("experiment=pt_table1", "+experiment=pt_table1"),
    ("dataset=mnist", "A name of dataset is given to the target: target.dataset=mnist."),
    ("tabular=adult", "A name of tabular is given to the target: target.tabular=adult."),
    ("sedd=3", "Unknown key 'sedd'; did you mean 'seed'?"),
    ("divice=cpu", "did you mean 'device'?"),
    ("target.component=8", "did you mean 'target.components'?"),
    ("sampler=dmala sampler.ladder=[1,0]", "Unknown key 'sampler.ladder'. sampler=dmala has: acceptance"),
    ("sampler=pt_dmala sampler.swap.rul=history", "did you mean 'sampler.swap.rule'?"),
    ("+sampler.foo=3", "Unknown key 'sampler.foo'"),
    ("task.strat=uniform", "did you mean 'task.start'?"),
    ("foo.bar=1", "Unknown key 'foo.bar'"),
    ("checkpoint.second=3", "did you mean 'checkpoint.seconds'?"),
    ("~metric", "Keys cannot be removed"),
    ("target=[mog,mos]", "target takes one name"),
    ("target=mog,mos", "is a sweep and needs -m"),
    ("metric=kl,tv", "metric=[kl,tv]"),
    ("hydra.foo=1", "hydra.foo"),
    ("hydra.run.dir=x", "hydra.run.dir is not used: each run has a folder of its own below output_root=DIR"),
    ("hydra.mode=MULTIRUN", "hydra.mode is not used: -m before the overrides makes a sweep of all their"),
    ("hydra.verbose=true", "hydra.verbose is not used: HYDRA_FULL_ERROR=1 in the environment shows where an"),
    ("hydra.job.chdir=true", "hydra.job.chdir is not used: a run stays in the current folder"),
    ("sampler=DMALA", "Unknown sampler 'DMALA'; did you mean 'dmala'?"),
    ("hydra.searchpath=[file:///nowhere]", "hydra.searchpath names '/nowhere', which is not there."),
    ("-m sampler=dmala,pt_dmala sampler.ladder=[1,0]", "sampler=dmala has"),
    ("-m sampler=dmala,dmla", "did you mean 'dmala'?"),
    ("-m +experiment=pt_table1,pt_table4", "One experiment at a time"),
    ("-m seed=range(3,3)", "is a sweep over nothing"),
    ("-m sampler.step_size=interval(0,1)", "a list of values or a range"),
]

MOG = "target._target_=targets.synthetic.mixture_of_gaussians.MixtureOfGaussians"
VALUES = [
    ("sampler=pt_dmala sampler.swap.rule=corrected", "needs a target with minibatch estimates"),
    ("output_root=.", "output_root must name a folder of its own"),
    ("seed=[1,1]", "[1, 1] was given"),
    ("task.steps=null", "task.steps must be"),
    ("task.steps=10 task.burn_in=10", "task.burn_in must be less than task.steps=10, 10 was given."),
    ("task.start=one_mod", "did you mean 'one_mode'?"),
    ("task.start=one_mode", "task.start=one_mode needs a target with known modes"),
    (
        "target=stmh_two_modes sampler=mala sampler.step_size=1 task.start=uniform",
        "task.start=uniform is not for targets on the reals",
    ),
    ("device=gpu", "device must be one of auto, cpu, cuda, 'gpu' was given"),
    ("dtype=float16", "dtype must be float32 or float64, 'float16' was given"),
    ("sampler=pt_dmala sampler.ladder=[1]", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.ladder=[0.9,0.5]", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.ladder=[1,0.5,0.7]", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.ladder=[1,-0.5]", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.ladder=[2,1]", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.ladder=warm", "sampler.ladder must be"),
    ("sampler=pt_dmala sampler.replicas=1", "sampler.replicas must be"),
    ("sampler=pt_dmala sampler.replicas=3 sampler.ladder=[1,0.5]", "sampler.replicas=3 does not fit"),
    ("sampler=pt_dmala sampler.swap.rule=histroy", "sampler.swap.rule must be one of corrected,"),
    ("sampler=pt_dmala sampler.swap.pairing=odd", "sampler.swap.pairing must be"),
    ("sampler=pt_dmala sampler.swap.intensity=2", "sampler.swap.intensity must be"),
    ("target=mog target.components=7", "target.components must be one of 2, 4, 6, 8, 10, 12, 14, 16, 7 was"),
    ("target=mog target.energy=papr", "target.energy must be one of log, paper, released, 'papr' was given"),
    ("target=ising target.size=1", "target.size must be a whole number of at least 2, 1 was given"),
    ("target=ising target.size=[4,4,4]", "target.size must be one whole number or 2 of them for"),
    ("target=ising target.geometry=sqare", "target.geometry must be one of cubic, random, square, 'sqare'"),
    ("target=ising target.geometry=random target.size=5 target.degree=3", "target.degree must be below size"),
    ("target=potts target.q=1", "target.q must be a whole number of at least 2, 1 was given"),
    ("target=categorical target.levels=1", "target.levels must be a whole number of at least 2, 1 was given"),
    ("target=fhmm target.stay=1", "target.stay must be a probability strictly between 0 and 1, 1 was given"),
    ("target=ngram target.order=9", "target.order must be a number from 2 to 4, 9 was given"),
    (
        "target=ngram target.text=nowhere.txt",
        "target.text must be a file that can be read as UTF-8, 'nowhere",
    ),
    ("sampler=pas sampler.radius=9", "sampler: radius must be at most 4, the dimension, 9 was given"),
    ("sampler=pas sampler.radius=0.5", "sampler.radius must be a number of at least 1, 0.5 was given"),
    ("sampler=pt_pas sampler.step_size=9", "sampler: radius must be at most 4, the dimension, 9 was given"),
    ("sampler=pt_pas sampler.step_size=0.5", "radius must be a number of at least 1, 0.5 was given"),
    ("sampler=dlmc sampler.balancing_function=torch.abs", "is off by 20 in log g"),
    ("sampler=wolff", "sampler: Wolff needs a target whose coordinates interact in pairs, such as ising or"),
    ("target=mog metric=binder", "metric: magnetisation, and all that is measured of it, needs bits or"),
    ("metric=emc", "metric: emc needs a target with known modes"),
    ("metric=swap_rate", "metric: swap_rate needs a kernel with replicas"),
    (
        "sampler=dmala sampler._target_=samplers.DMALA",
        "write samplers.discrete.dmala.DMALA, where it is defined",
    ),
    ("target._target_=nopackage.Mine", "there is no module 'nopackage' here"),
    ("target._target_=targets.target.Tarrget", "did you mean 'Target'?"),
    ("target._target_=Mine", "must be a class as package.module.Class, 'Mine' was given"),
    ("target._target_=targets.spaces.Binary +target.d=3", "is no targets.target.Target"),
    ("sampler._target_=targets.synthetic.bernoulli4.Bernoulli4", "is no samplers.kernel.Kernel"),
    (f"{MOG} +target.modes=3", "takes: components, energy"),
    ("logger=wandb logger.mode=loud", "logger.mode must be one of disabled, offline, online, 'loud' was"),
    ("-m sampler.step_size=1,0", "0 was given (job: target=bernoulli4 sampler=dmala sampler.step_size=0)."),
]


@pytest.mark.parametrize(("command", "sentence"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_a_command_is_refused(call: Call, tmp_path: Path, command: str, sentence: str) -> None:
    assert sentence in refused(call, command)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "sentence"), NAMES, ids=[command for command, _ in NAMES])
def test_a_name_is_refused(call: Call, tmp_path: Path, command: str, sentence: str) -> None:
    assert sentence in refusal(command)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "sentence"), VALUES, ids=[command for command, _ in VALUES])
def test_a_value_is_refused(call: Call, tmp_path: Path, command: str, sentence: str) -> None:
    groups = [given.split("=")[0] for given in command.split()]
    small = [f"{group}={name}" for group, name in {"target": "bernoulli4", "sampler": "dmala"}.items()]
    assert sentence in refusal(*(line for line in small if line.split("=")[0] not in groups), command)
    assert not list(tmp_path.glob("**/config.yaml"))


SMALL = "target=bernoulli4 sampler=dmala"
WHOLE = "a whole number of at least"
NUMBERS = [
    ("seed", f"{WHOLE} 0, or a list of distinct ones", "-1 1.5 'abc' True []"),
    ("task.steps", f"{WHOLE} 1", "0 'abc' inf"),
    ("task.chains", f"{WHOLE} 1", "0"),
    ("task.record", f"{WHOLE} 0", "-1"),
    ("task.burn_in", f"{WHOLE} 0", "-1 2.5"),
    ("threads", "a whole number from 1 to 1024", "0 1025"),
    ("checkpoint.seconds", "a number of at least 0", "-1 nan"),
    ("checkpoint.steps", "null or a whole number from 1", "0"),
    ("sampler.step_size", "a positive number or 'auto'", "0 -0.5 nan 'big'"),
]


@pytest.mark.parametrize(("key", "allowed", "values"), NUMBERS, ids=[key for key, *_ in NUMBERS])
def test_a_number_is_refused(call: Call, key: str, allowed: str, values: str) -> None:
    check_refused_values(SMALL, key, allowed, values)


def test_a_value_of_a_whole_command_is_refused(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "task.steps must be a whole number of at least 1, 0 was" in refused(call, SMALL, "task.steps=0")
    assert "(job: target=bernoulli4" in refused(call, f"-m {SMALL} sampler.step_size=1,0")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "PyTorch sees no CUDA device here" in refused(call, "device=cuda")
    (tmp_path / "results").write_text("mine")
    assert "output_root must be a folder" in refused(call, f"{SMALL} output_root=results")
    assert (tmp_path / "results").read_text() == "mine"


TARGETS = """
import torch
from targets.spaces import Binary
from targets.target import Target

class Base(Target):
    def __init__(self):
        super().__init__()
        self.space = Binary(3)

    def log_prob(self, theta):
        return theta.sum(-1)

class NotANumber(Base):
    def log_prob(self, theta):
        return theta.sum(-1) * float("nan")

class Infinite(Base):
    def log_prob(self, theta):
        return theta.sum(-1) - float("inf")

class WrongShape(Base):
    def log_prob(self, theta):
        return theta

class Raises(Base):
    def log_prob(self, theta):
        raise RuntimeError("the data are not there")

class NoLogProb(Target):
    pass

class NoSpace(Target):
    def log_prob(self, theta):
        return theta.sum(-1)

class Refuses(Base):
    def __init__(self, width=1):
        raise ValueError(f"width must be even, {width} was given")

class Breaks(Base):
    def __init__(self):
        raise OSError("no such file: weights.bin")

class Unpacks(Base):
    def __init__(self):
        first, second = [0]

class NeedsMore(Base):
    def __init__(self, depth):
        super().__init__()
"""

BROKEN = [
    ("NotANumber", "gave the log density [nan, nan] at its initial states"),
    ("Infinite", "gave the log density -inf to an initial state, which only a constrained one may do"),
    ("WrongShape", "gave log densities of shape (1, 2, 3), (1, 2) was expected"),
    ("Raises", "cannot be evaluated: RuntimeError: the data are not there"),
    ("NoLogProb", "Can't instantiate abstract class NoLogProb"),
    ("NoSpace", "sets no space"),
    ("Refuses +target.width=3", "target.width must be even, 3 was given"),
    ("Breaks", "cannot be built: OSError: no such file: weights.bin"),
    (
        "Unpacks",
        "built: ValueError: not enough values to unpack (expected 2, got 1) (broken_targets.py",
    ),
    ("NeedsMore", "needs the key 'target.depth'"),
    ("Refuses +target.widht=3", "Unknown key 'target.widht'; did you mean 'width'?"),
    ("Absent", "broken_targets has no 'Absent'"),
]


@pytest.mark.parametrize(("target", "sentence"), BROKEN, ids=[target for target, _ in BROKEN])
def test_a_users_target_is_refused(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch, target: str, sentence: str
) -> None:
    (tmp_path / "broken_targets.py").write_text(TARGETS)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert sentence in refusal(f"sampler=dmala target._target_=broken_targets.{target}")


def test_the_whole_traceback_on_request(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(UserError, match="Unknown target"):
        main(["target=mgo"])


@pytest.mark.parametrize("letter", ["\x1c", "\x85", "\u2028", "\ud800"])
def test_a_letter_that_breaks_lines_is_written_out(call: Call, letter: str) -> None:
    ended = call(f"target={letter}")
    assert ended.status == 2
    assert ended.err.startswith(f"error: Cannot read the override 'target={ascii(letter)[1:-1]}': ")
    assert len(ended.err.splitlines()) == 1
