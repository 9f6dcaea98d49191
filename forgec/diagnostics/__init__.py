"""Diagnostics: the model and its renderers."""

from forgec.diagnostics.model import Diagnostic, Label, Report, Severity, counted, did_you_mean

__all__ = ["Diagnostic", "Label", "Report", "Severity", "counted", "did_you_mean"]
