"""What goes wrong around a page, in a real browser: no server, no session, a way back. Nothing is done in silence."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, Route, expect

from importer.models import ImportJob
from tests.browser.conftest import NewTab
from tests.dashboard.home.test_page import make_schedule
from tests.dashboard.job_data import Status, make_job

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "mill-race-9"


@pytest.fixture
def page(new_tab: NewTab, live_server, client) -> Page:
    client.force_login(User.objects.create_superuser("ann", password=PASSWORD))
    return new_tab(live_server.url, client)


def test_a_list_says_that_there_is_no_answer_until_there_is_one(page: Page):
    make_job(Status.SUCCEEDED, chunks=2)
    page.goto(reverse("jobs"))
    page.context.set_offline(True)
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Millrace does not answer")
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    expect(alert).to_have_count(1)
    page.context.set_offline(False)
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    expect(alert).to_have_count(0)


def test_a_list_says_once_that_it_failed_and_asks_no_more_when_it_is_refused(page: Page):
    make_job(Status.SUCCEEDED, chunks=2)
    page.goto(reverse("jobs"))
    answers = [500, 500, 200, 403]

    def answer(route: Route) -> None:
        status = answers.pop(0)
        return route.continue_() if status == 200 else route.fulfill(status=status)

    page.route(f"**{reverse('jobs')}?*", answer)

    def refresh() -> None:
        with page.expect_response(f"**{reverse('jobs')}?*"):
            page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")

    alert = page.get_by_role("alert")
    refresh()
    expect(alert).to_contain_text("That failed on the server")
    first = alert.element_handle()
    refresh()
    assert first.evaluate("said => said.isConnected")
    refresh()
    expect(alert).to_have_count(0)
    refresh()
    expect(alert).to_contain_text("That was refused")
    sent = """() => {
        let sent = 0;
        addEventListener("htmx:beforeSend", () => sent++);
        htmx.trigger("[data-refresh]", "refresh");
        return sent;
    }"""
    assert page.evaluate(sent) == 0


def test_what_was_entered_and_not_sent_stays_while_its_list_changes(page: Page):
    schedule = make_schedule()
    page.goto(f"{reverse('schedules')}?q=night")
    search = page.get_by_label("Name", exact=True)
    search.fill("nightly s")
    page.get_by_role("heading", name="Schedules").click()  # The list changes while nobody is typing.
    schedule.name = "nightly sales"
    schedule.save()
    page.evaluate("htmx.trigger('[data-refresh]', 'refresh')")
    expect(page.get_by_role("link", name="nightly sales")).to_be_visible()
    expect(search).to_have_value("nightly s")


@pytest.mark.parametrize(
    ("status", "said"), [(403, "That was refused"), (404, "That no longer exists"), (500, "cannot reach Millrace")]
)
def test_an_import_is_asked_for_again_unless_it_may_be_seen_no_more(page: Page, status: int, said: str):
    job = make_job(Status.LOADING, chunks=2)
    page.clock.install()
    polls: list[Route] = []

    def refuse(route: Route) -> None:
        polls.append(route)
        if status == 404:
            ImportJob.objects.all().delete()
            return route.continue_()
        return route.fulfill(status=status)

    page.route(f"**{reverse('job_live', args=[job.pk])}*", refuse)
    page.goto(reverse("job", args=[job.pk]))
    page.clock.run_for(1500)
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("cannot reach Millrace")).to_be_visible(visible=status == 500)
    if status == 500:
        with page.expect_request(f"**{reverse('job_live', args=[job.pk])}*"):
            page.clock.run_for(60_000)
        return
    page.clock.run_for(60_000)
    expect(page.get_by_text(said)).to_be_visible()
    assert len(polls) == 1


def test_a_form_keeps_what_was_entered_until_somebody_has_signed_in_again(page: Page):
    page.goto(reverse("person_new"))
    page.get_by_label("Name", exact=True).fill("bert")
    page.context.clear_cookies(name="sessionid")
    button = page.get_by_role("button", name="Add and create a link")
    button.click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Your session has ended, and nothing was sent")
    with page.context.expect_page() as opened:
        alert.get_by_role("link").click()
    other = opened.value
    other.get_by_label("User name").fill("ann")
    other.get_by_label("Password", exact=True).fill(PASSWORD)
    other.get_by_role("button", name="Sign in", exact=True).click()
    other.wait_for_url(f"**{reverse('home')}")
    button.click()
    expect(page.get_by_text("bert is added")).to_be_visible()


def test_a_preview_without_a_session_leaves_the_form_as_it_is(page: Page):
    page.goto(f"{reverse('schedule_new')}?job={make_job(Status.SUCCEEDED, chunks=2).pk}")
    expect(page.locator("#schedule-preview")).not_to_be_empty()
    page.context.clear_cookies(name="sessionid")
    name = page.get_by_label("Name", exact=True)
    name.fill("nightly")
    expect(page.get_by_role("alert").filter(has_text="Your session has ended")).to_be_visible()
    expect(name).to_have_value("nightly")


def test_a_form_whose_button_is_pressed_twice_is_sent_once(page: Page):
    page.goto(reverse("person_new"))
    page.get_by_label("Name", exact=True).fill("bert")
    button = page.get_by_role("button", name="Add and create a link")
    button.evaluate("button => { button.click(); button.click(); }")
    expect(page.get_by_text("bert is added")).to_be_visible()


def test_a_form_may_be_sent_again_when_its_page_is_shown_again(page: Page):
    page.goto(reverse("person_new"))
    page.get_by_label("Name", exact=True).fill("bert")
    page.evaluate(
        """() => {
            window.refused = [];
            addEventListener("submit", (event) => {
                refused.push(event.defaultPrevented);
                event.preventDefault();
            });
        }"""
    )

    def press(times: int) -> None:
        page.evaluate("document.querySelector('#content form .btn-primary').click()")
        page.wait_for_function("(times) => refused.length === times", arg=times)

    press(1)
    press(2)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow'))")
    press(3)
    assert page.evaluate("refused") == [False, True, False]
