"""The optional packages of traces and error reports."""

from django.core.exceptions import ImproperlyConfigured


def require(package: str, setting: str) -> None:
    """Raise ImproperlyConfigured if the package that the setting needs is not installed."""
    # Imported here: it takes 12 ms, and few installations have such a setting.
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(package)
    except PackageNotFoundError:
        raise ImproperlyConfigured(
            f"{setting} is set, and its package {package} is not installed. Unset {setting}, or install the package:"
            f" pipx inject millrace {package}. In a checkout: scripts/setup.sh telemetry."
        ) from None
