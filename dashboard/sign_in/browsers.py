"""A short name for a browser, from what it says of itself."""

# The first that occurs counts: Edge also says Chrome, and Chrome also says Safari.
BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("Linux", "Linux"),
)


def browser_name(user_agent: str) -> str:
    """Such as "Firefox on Linux"; the first words of a user agent that is none of the known ones."""
    browser = next((name for part, name in BROWSERS if part in user_agent), user_agent[:40] or "A browser")
    system = next((f" on {name}" for part, name in SYSTEMS if part in user_agent), "")
    return browser + system
