"""The optional packages of traces and error reports."""

from importlib.metadata import PackageNotFoundError, version

from django.core.exceptions import ImproperlyConfigured


def require(package: str, setting: str) -> None:
    """Raise ImproperlyConfigured if the package that the setting needs is not installed."""
    try:
        version(package)
    except PackageNotFoundError:
        raise ImproperlyConfigured(
            f"{setting} is set, and its package {package} is not installed. Unset {setting}, or install the package:"
            " pip install 'millrace[telemetry]', or in a checkout pip install -r requirements-telemetry.txt."
        ) from None
