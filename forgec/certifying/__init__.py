"""Certification: whether tasks are what they seem, each point a check with its evidence."""

from forgec.certifying.checking import certify
from forgec.certifying.fresh import FreshProcess
from forgec.certifying.verdict import CHECKS, Kills, Outcome, Verdict

__all__ = ["CHECKS", "FreshProcess", "Kills", "Outcome", "Verdict", "certify"]
