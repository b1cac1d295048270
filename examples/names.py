"""The people, machines and files of the made-up archive. None of them exists."""

from dataclasses import dataclass
from itertools import accumulate

from tapewise.examples.chance import Chance

# PFTP logins are project accounts, so there are projects instead of people.
_PROJECTS = (
    "aurora", "basalt", "cirrus", "delta", "ember", "fjord", "glacier", "halo", "isobar", "jetstream",
    "karst", "lagoon", "mesa", "nimbus", "orbit", "plasma", "quasar", "rift", "shoal", "tundra",
    "updraft", "vortex", "wavelet", "xenon", "yarrow", "zenith",
)  # fmt: skip
_SUBJECTS = ("run", "mesh", "restart", "spectra", "history", "field", "plot", "grid", "flux", "ocean")
_ENDINGS = (".dat", ".nc", ".out", ".h4", ".log", ".bin", "")
# Legal names that have broken log readers: with blanks, or with text like that of the fields after the path.
_BLANK_NAMES = ("final run", "field map", "copy of mesh", "plan b o", "notes 98 10")
# Latin-1 letters: the daemon writes the bytes that the client sent, and these are not UTF-8.
_LATIN1_NAMES = ("donn\xe9es", "gr\xf6\xdfe", "r\xe9sum\xe9_flux", "\xe9t\xe9")

_NFT_MACHINES = "cgkmtw"
_OWN_HOSTS = tuple(f"{name}.example.gov" for name in ("login01", "login02", "login03", "viz01", "data01"))
_PFTP_HOSTS = (
    *_OWN_HOSTS,
    "node17.example.gov",
    "node18.example.gov",
    "gate.climate.example.edu",
    "ftp.physics.example.edu",
)
_HSI_HOSTS = (*_OWN_HOSTS, "mover02.example.gov", "hpc.example.edu")

# Some clients cannot take the full rate; those that can (1.0) reach the lower envelope.
_HOST_SPEEDS = (1.0, 1.0, 0.9, 1.0, 0.6, 1.0, 0.35)


@dataclass(frozen=True, slots=True)
class User:
    """One user of one interface, at the machine they usually work on."""

    name: str
    host: str
    host_speed_ratio: float
    project: str
    account: str


class People:
    """The users of one interface, a few of whom make most of the requests."""

    def __init__(self, users: list[User], concentration: float) -> None:
        """Take the users, the most active first; user k gets a weight of k ** -concentration."""
        self.users = users
        self._running_weights = list(accumulate(rank**-concentration for rank in range(1, len(users) + 1)))

    def pick(self, chance: Chance) -> User:
        """Pick the user who makes the next request."""
        return chance.pick_by_weight(self.users, self._running_weights)


def nft_people(chance: Chance) -> People:
    """Make sixty numbered users for both NFT and FTP, on machines with names of one letter."""
    numbers = [f"{2000 + 37 * rank + chance.integer(0, 30):06d}" for rank in range(60)]
    return People([_user(number, _NFT_MACHINES, chance) for number in numbers], concentration=1.1)


def pftp_people(chance: Chance) -> People:
    """Make one login per project."""
    return People([_user(project, _PFTP_HOSTS, chance) for project in _PROJECTS], concentration=1.0)


def hsi_people(chance: Chance) -> People:
    """Make forty users with Unix user ids."""
    uids = [str(31000 + 113 * rank + chance.integer(0, 100)) for rank in range(40)]
    return People([_user(uid, _HSI_HOSTS, chance) for uid in uids], concentration=1.1)


def _user(name: str, hosts: tuple[str, ...] | str, chance: Chance) -> User:
    number = chance.integer(0, len(hosts) - 1)
    project = name if name in _PROJECTS else chance.pick(_PROJECTS)
    return User(name, hosts[number], _HOST_SPEEDS[number % len(_HOST_SPEEDS)], project, name)


@dataclass(frozen=True, slots=True)
class Family:
    """The files of one batch, which have the same folder, the same stem and consecutive numbers."""

    folder: str
    stem: str
    first_number: int
    ending: str

    def path(self, index: int) -> str:
        """The path of the file at this position in the batch."""
        return f"{self.folder}/{self.stem}{self.first_number + index:04d}{self.ending}"


def new_family(user: User, chance: Chance, *, has_latin1: bool = False) -> Family:
    """Invent paths in the archive for a batch of this user's files."""
    folder = f"/home/{user.project[0]}/{user.project}/{chance.pick(_SUBJECTS)}{chance.integer(1, 99):02d}"
    first_number = chance.integer(0, 9000)
    if has_latin1 and chance.happens(0.01):
        return Family(folder, f"{chance.pick(_LATIN1_NAMES)}_", first_number, ".dat")
    if chance.happens(0.03):
        return Family(folder, f"{chance.pick(_BLANK_NAMES)} ", first_number, ".dat")
    return Family(folder, f"{chance.pick(_SUBJECTS)}.", first_number, chance.pick(_ENDINGS))
