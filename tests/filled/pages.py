"""Every address of the application with the objects of the filled database, and what has to stand on its page."""

from dataclasses import dataclass, field
from typing import Any

from dashboard import urls
from dashboard.sign_in import urls as sign_in
from importer.engine.mysql.error_messages import RIGHTS

# An upload that was looked at and not imported, the rejected rows of import 3, and an upload that has not arrived.
LOOKED_AT = "5097bcd8-b699-4dfc-8229-2ebba0f07047"
REJECTS = "33797912-96f9-4502-9466-c050d0b8abec"
HALF = "f887e772-8020-4b51-8a1b-795ddc37acd4"

JOBS = (1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 23, 24, 59)
UNENDED_JOBS = (15, 59)
LABS = (1, 2, 3, 4, 5)
SCHEDULES = (1, 2, 3)
CHANNELS = (1, 2, 3)

TOO_LONG = "The value is too long for varchar(30)."
NIGHTLY = "readings nightly"


@dataclass(frozen=True)
class Page:
    """An address by its name in dashboard.urls, what follows it, and words or pieces of HTML that must be there."""

    name: str
    args: tuple[Any, ...] = ()
    query: str = ""
    words: tuple[str, ...] = ()
    status: int = 200

    def __str__(self) -> str:
        return " ".join(map(str, (self.name, *self.args, self.query))).strip()


@dataclass(frozen=True)
class Action:
    """What a button sends, and what the page says that it leads to."""

    name: str
    args: tuple[Any, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    status: int = 200

    def __str__(self) -> str:
        return " ".join(map(str, (self.name, *self.args)))


LISTS = (
    Page("home", words=("attention", NIGHTLY, "Workers")),
    Page("jobs", words=("19 found", "more_orders.csv", "slower than similar imports", "48.4", "indexes after")),
    Page("jobs", query="?q=orders&status=failed&sort=-rate", words=("1 found", "broken_orders.csv")),
    Page("jobs", query="?sort=method", words=("INSERT PREPARED", "LOAD DATA SERVER")),
    Page("jobs_bulk", query="?action=delete&status=failed", words=("Delete the records of", "broken_orders.csv")),
    Page("schedules", words=(NIGHTLY, "At 02:30 every day, Europe/Vienna", "bucket, paused", "Every 15 minutes")),
    Page("schedules", query="?show=attention", words=("The header is another one: price missing; cost new.",)),
    Page("labs", words=("5 in all", "hash partitions", "Cancelled", TOO_LONG[:40])),
    Page("presets", words=("customers from the till", "sku, name, price", "warehouse · sales.products")),
    Page("preset", (1,), words=("Import with this preset", "semicolon, cp1252", "31.12.2026 (day.month.year)")),
    Page("targets", words=("loader@127.0.0.1:1 / sales", "1 problem to fix", "Ready, 4 hints", "19 imports")),
    Page("connections", words=("s3://bucket/daily", "incoming", "2 schedules", "not checked yet")),
    Page("channels", words=("https://hooks.example.org/millrace", "2 waiting", "11 waiting", "carol@example.org")),
    Page("workers", words=("Workers",)),
    Page("storage", words=("half.csv", "orders_801.csv", "Rejected rows", "Audit log")),
    Page("storage_file_delete", (LOOKED_AT,), words=("Delete",)),
    Page("job_delete", (1,), words=("Delete the import",)),
    Page("new", words=("half.csv", "40 %", "orders_801.csv", "1.29 KiB")),
)
IMPORTS = (
    Page("job", (1,), words=("60 loaded", "Transcoded from cp1252", "customers.csv", "chunks of 1 MiB")),
    Page("job", (2,), words=("300 loaded", "in 7 of 7 chunks", "by_customer, by_time", "2 in parallel")),
    Page(
        "job",
        (3,),
        words=(
            "115 loaded + 0 replaced + 0 unchanged + 9 skipped + 6 rejected",
            TOO_LONG,
            "30.5",
            "of rejected rows loaded none of them. Fix them here.",
            "40 characters",
        ),
    ),
    Page(
        "job", (4,), words=(TOO_LONG, "line 51, column note", "48 rows of other chunks", "Retry, reject invalid rows")
    ),
    Page("job", (5,), words=("30 loaded + 10 replaced", "INSERT")),
    Page("job", (7,), words=("20 loaded + 20 replaced", "sort_buffer_size")),
    Page("job", (8,), words=("1 value changed", "millrace_old_aac900ddfc7b46e1b5bece1bd5924d56", "MyISAM")),
    Page("job", (9,), words=("120 loaded", "varchar(32)", "PARTITIONS 4")),
    Page("job", (10,), words=("INSERT PREPARED", "innodb_lock_wait_timeout", "REPEATABLE-READ")),
    Page("job", (11,), words=("LOAD DATA SERVER", "innodb_flush_log_at_trx_commit")),
    Page("job", (12,), words=("Unpacked and sorted", "150 loaded")),
    Page("job", (13,), words=("by admin", "what import 3 rejected", "6 rejected")),
    Page("job", (14,), words=("by ann", "Cancelled after 147 rows were committed", "153 not loaded")),
    Page("job", (15,), words=("Paused by ann, 25 Nov 09:38: no further", "194 loaded", "106 still to come")),
    Page("job", (17,), words=(f"picked up by {NIGHTLY}", "100 loaded")),
    Page(
        "job",
        (23,),
        words=(
            "Slower than similar imports",
            "2.00k, the median of 7 imports like it before",
            "Triggers on INSERT 0 → 1",
        ),
    ),
    Page("job", (24,), words=("s1 far too long for its column", "line 2, column sensor")),
    Page(
        "job", (59,), words=("not yet put back: 2 indexes and 1 foreign key", "Access denied for user", "two_customer")
    ),
    Page("job_live", (15,), words=("194 loaded", "in 4 of 7 chunks")),
    Page("job_live", (3,), words=("6 rejected",), status=286),
    Page("job_rates", (2,), words=('"points": [[', '"seconds"')),
    Page("job_table_rows", (2,)),
    Page("job_chunks", (4, 0, 9), words=("Chunks 0 to 5", "failed")),
    Page("job_chunks", (4, 2, 2), words=("State", TOO_LONG)),
    Page("job_problem_chunks", (4, 0, 9), words=("Chunk 2 failed", "23 rows from line 50 on", TOO_LONG)),
    Page("job_timings", (3,), words=("The median of 3 chunks is 8.3 ms", "took 22 ms, 2.65 times as long", "0.008674")),
    Page("job_timings", (2,), words=("The median of 7 chunks",)),
    Page("job_reject_file", (3,), words=("310,11,abc,2026-11-03 22:15:00,order 310",)),
    Page("job_reasons_file", (3,), words=(TOO_LONG, "Duplicate entry '291'")),
)
NEW_IMPORT = (
    Page("new_tables", query="?target=1&table=ord", words=("orders_copy",)),
    Page("new_source", (LOOKED_AT,), words=("orders_801.csv", 'name="max_rejects" value="7"', "3 in parallel")),
    Page("new_source", (LOOKED_AT,), "?again=3", ("settings of import 3", "sales.orders")),
    Page(
        "new_source",
        (LOOKED_AT,),
        "?lab=1",
        ("found no clearly better settings", "4 fields have no column in readings: customer_id, amount"),
    ),
    Page("new_source", (LOOKED_AT,), "?preset=1", ("No field of the file goes into a column",)),
    Page("new_source", (REJECTS,), "?again=3", ("This file has been imported before", "Import 13")),
    Page("new_source", (REJECTS,), "?again=13", ("settings of import 13",)),
)
SCHEDULING = (
    Page(
        "schedule",
        (1,),
        "?month=2026-11",
        ("Loaded 200 rows of 2 files", "1 failed", "readings-21.csv", "started manually"),
    ),
    Page("schedule", (1,), "?day=2026-11-25", ("There is a readings-22.csv in done already.", "moved", "Notifies")),
    Page(
        "schedule",
        (2,),
        "?month=2026-11",
        ("price missing; cost new", "This is not there.", ">Compare the headers</a>", "upsert"),
    ),
    Page("schedule", (3,), words=("Every 15 minutes", "sales.customers", "delete it")),
    Page(
        "schedule_header",
        (2,),
        words=(
            "products-1.csv",
            "price",
            "Missing",
            "Column for cost",
            "schedule expects sku, name, cost, with",
            "Nothing changes: 2026/products-1.csv is not loaded",
        ),
    ),
    Page("schedule_new", words=("import 23 on warehouse", "customers from the till")),
    Page("schedule_new", query="?job=16", words=("Repeat import 16", 'value="readings"')),
    Page("schedule_new", query="?job=1", words=("Repeat import 1", 'value="customers"')),
    Page("schedule_new", query="?preset=1&connection=2", words=("Files with preset customers from the till",)),
    Page(
        "schedule_preview",
        query="?trigger=cron&cron=30+2+*+*+*&zone=Europe/Vienna&connection=1&pattern=2026/*.csv",
        words=("At 02:30 every day, Europe/Vienna", "There now"),
    ),
    Page("schedule_edit", (1,), words=('value="readings-*.csv"', 'value="30 2 * * *"', 'value="done"', 'value="120"')),
    Page("schedule_edit", (3,), words=('value="bucket, paused"', 'value="15"')),
    Page("schedule_subscriptions", (1,), words=("Notifications for readings nightly", "A schedule is late", "checked")),
)
HISTORY = (
    Page("history", words=("sales.readings · 7 imports", "sales.orders · 5 imports", "LOAD DATA LOCAL")),
    Page("history", query="?chart=time", words=("13 imports: median 1,276 rows/s",)),
    Page("history", query="?chart=phases", words=("Of the time of 14 imports", "Load 90%", "3 imports without")),
    Page(
        "history",
        query="?table=sales.readings&where=schedule+%3D+readings+nightly",
        words=(
            "48.4",
            "3 of 7 imports match",
            "Import 23</a>: Slower than similar imports",
            "since then changed: Triggers on INSERT 0 → 1",
        ),
    ),
    Page(
        "history_compare", query="?jobs=17&jobs=23", words=("clearly slower", "Triggers on INSERT", "readings-20.csv")
    ),
    Page("history_compare", query="?jobs=2&jobs=3&all=1", words=("back in one ALTER TABLE: by_customer, by_time",)),
    Page("history_chart", query="?chart=settings&x=method&y=rows_per_second", words=("INSERT PREPARED", "1276.5")),
    Page("history_chart", query="?chart=phases", words=('"kind"',)),
    Page("history_values", query="?fact=method", words=("insert_prepared",)),
    Page("history_csv", query="?columns=job,table,mode,rows", words=("23,sales.readings", "8,sales.products,replace")),
    Page("history_json", words=('"job": 23', '"rows_per_second": 48.4', '"method": "insert_prepared"')),
)
LAB = (
    Page("lab", (1,), words=("of import 16", "1,257 rows/s in one run", "rows per statement 10", "Fastest run")),
    Page(
        "lab",
        (2,),
        words=("by ann", "50 % in 20 ranges", "Partitions are set when a table is made", ">Import this file<"),
    ),
    Page("lab", (3,), words=("the target's ceiling is 6 chunks at once", "the lab was ended before")),
    Page("lab", (4,), words=("Ended without a result", TOO_LONG)),
    Page("lab", (5,), words=("LOAD DATA, 8 sessions was the fastest way: 46,512 rows/s", "are not judged, because")),
    Page("lab_live", (1,), words=("1,257",), status=286),
    Page("lab_charts", (1,), words=('"median": 1257', "chunk size 16 KiB, secondary indexes: take off")),
    Page(
        "lab_charts",
        (2,),
        words=('"curves": []', '"median": 530', '"short": "partitions 1"', '"short": "table as it is"'),
    ),
    Page("lab_experiments", words=("None was run yet",)),
    Page("lab_new", words=("Import 16: readings-3.csv",)),
    Page("lab_new", query="?job=16", words=("Import 16: readings-3.csv", "sales.readings")),
    Page("lab_new", query="?lab=1", words=("Import 16: readings-3.csv", 'value="60"')),
)
PLACES = (
    Page("target", (1,), words=('value="warehouse"', "Ready, 4 hints", "19 imports belong to it", 'value="6"', RIGHTS)),
    Page("target", (2,), words=("No connection to 127.0.0.1:1", "/etc/ssl/certs/ca.pem")),
    Page("target_new", words=("New target",)),
    Page("connection", (1,), words=('value="incoming"', "Files may be moved and deleted", NIGHTLY)),
    Page("connection", (2,), words=("bucket/daily", "eu-west-1", "NOBODY", "Forget what is stored")),
    Page("connection_new", words=("Folder on this server",)),
    Page("connection_files", (1,), words=("There now",)),
    Page("new_places", words=("incoming",)),
    Page("new_from", (1,), words=("incoming",)),
    Page(
        "channel",
        (1,),
        words=(
            "bob@example.org",
            "<strong>11 messages wait, the oldest for ",
            "Redis does not answer. No mail server is set",
            f"{NIGHTLY} is late",
            'value="2"',
        ),
    ),
    Page(
        "channel",
        (2,),
        words=(
            "https://hooks.example.org/millrace",
            "2 messages wait, the oldest for ",
            "</strong> Redis does not answer.",
            "was slower than usual",
            "sent",
        ),
    ),
    Page("channel", (3,), words=("The channel was switched off.", "given up", "Send again")),
    Page("channel_new", words=("New channel",)),
)
PAGES = (*LISTS, *IMPORTS, *NEW_IMPORT, *SCHEDULING, *HISTORY, *LAB, *PLACES)

ACTIONS = (
    Action("job_pause", (15,), words=("194 loaded",)),
    Action("job_resume", (15,), words=("194 loaded",)),
    Action("job_cancel", (15,), words=("Cancel",)),
    Action("job_retry", (4,), {"leave_out": "1"}, ("48 loaded",)),
    Action("job_restore_now", (8,), words=("Nothing keeps this import from putting back",)),
    Action("job_end_without", (8,), words=("Nothing keeps this import from putting back",)),
    Action("job_apply", (4,), words=("Nothing is staged that could be applied",)),
    Action("job_compare_again", (4,), words=("Nothing is staged that could be applied",)),
    Action("job_drop_staged", (4,), words=("48 loaded",)),
    Action("job_dismiss", (4,), words=("dismissed by admin",)),
    Action("run_dismiss", (12,), words=("The run needs nobody",)),
    Action("job_delete", (1,), words=("Import 1 of", "is deleted.")),
    Action("job_restore", (8,), words=("There is no table sales.millrace_old_",)),
    Action("job_drop_backup", (8,), words=("40 loaded",)),
    Action("job_parallelism", (15,), {"parallelism": "3"}, ("194 loaded",)),
    Action("job_priority", (15,), {"priority": "high"}, ("194 loaded",)),
    Action("job_again", (3,), words=("settings of import 3", "more_orders.rejects.csv")),
    Action("job_preset", (16,), {"name": "readings again"}, ("readings again",)),
    Action("start_import", (LOOKED_AT,), {"target": "1", "table": "orders"}, ("The plan has changed",), 422),
    Action("save_preset", (LOOKED_AT,), {"target": "1", "table": "orders", "preset_name": "mine"}, ("mine",)),
    Action("storage_file_delete", (LOOKED_AT,), words=("is deleted.",)),
    Action("storage_policy", data={"name": "rejects", "days": "7"}, words=("7 days",)),
    Action("remove_source", (LOOKED_AT,), words=("half.csv",)),
    Action("schedule_pause", (1,), words=(f"{NIGHTLY} is paused.",)),
    Action("schedule_resume", (3,), words=("bucket, paused is resumed.",)),
    Action("schedule_run", (1,), {"date": "2020-02-29"}, ("A run has begun.",)),
    Action("schedule_backfill", (1,), {"first": "2020-02-28", "last": "2020-02-29"}, ("A run has begun.",)),
    Action("schedule_header", (2,), {}, ("The file has changed since you looked at its header.",), 422),
    Action("run_again", (12,), words=("A run has begun.",)),
    Action("schedule_forget", (1,), {"name": "readings-21.csv"}, ("loads readings-21.csv as a new file.",)),
    Action("schedule_delete", (2,), words=("products as they come is deleted.",)),
    Action("run_cancel", (14,), words=("The run is cancelled.", "cancelled by admin")),
    Action("lab_cancel", (1,), words=("The lab is ending, or has ended.",)),
    Action("lab_preset", (1,), {"name": "as the lab says"}, ("Saved as preset as the lab says",)),
    Action("preset_rename", (1,), {"name": "tills"}, ('value="tills"',)),
    Action("preset_delete", (1,), words=("sku, name, price",)),
    Action("target_check", (1,), words=("checked",)),
    Action("target_delete", (1,), words=("warehouse stays:",)),
    Action("connection_check", (1,), words=("Files may be moved and deleted",)),
    Action("connection_confirm", (1,), {"key": "SHA256:none"}, ("incoming",)),
    Action("connection_delete", (1,), words=(f"the schedules products as they come, {NIGHTLY} pick files up there",)),
    Action("channel_switch", (3,), {"on": "yes"}, ("1 waiting",)),
    Action("channel_test", (1,), words=("No mail server is set.",)),
    Action("channel_send_now", (1,), words=("A worker sends them now, one after another.",)),
    Action("channel_discard", (1,), words=("11 messages discarded.", "It was discarded by hand.")),
    Action("channel_delete", (2,), words=("ops is deleted.",)),
    Action("notice_again", (9,), words=("It is tried again.",)),
)

# Names in dashboard.urls that no page or action above has, each with the reason.
LEFT_OUT = {
    "healthz": "tells of Redis and workers, and shows nothing that is stored",
    "readyz": "tells of Redis, workers and room on the disk, and shows nothing that is stored",
    "metrics": "shows sums that were counted since, and what is there now",
    "login": "has a test of its own",
    "logout": "is part of that test",
    **dict.fromkeys(
        (each.name for each in sign_in.urlpatterns if each.name not in ("login", "logout")),
        "one's own account, of which the rows have no more than the password",
    ),
    **dict.fromkeys(
        (
            each.name
            for each in urls.pages
            if each.name.startswith(("people", "person", "group", "grant", "invitation"))
        ),
        "people, groups and grants, of which the rows have no more than the names",
    ),
    "account_own": "the time zone of a person, which the rows do not have",
    **dict.fromkeys(
        ("job_approve", "job_refuse", "lab_approve", "lab_refuse"),
        "approvals, which the rows do not have",
    ),
    **dict.fromkeys(("account_token_new", "account_token_revoke"), "tokens for programs, which the rows do not have"),
    **dict.fromkeys(
        ("lab_clean_now", "lab_end_without"), "ways out for a lab that cannot clean up, a state that is newer"
    ),
    **dict.fromkeys(("audit", "audit_csv"), "the audit log, which the rows do not have"),
    **dict.fromkeys(("job_edit", "job_run_again"), "new imports that begin with the file and settings of an old one"),
    **dict.fromkeys(
        ("job_rejected", "job_fix_row", "job_fixed_rows", "job_load_fixed"),
        "rejected rows that are fixed in place, which the rows do not have",
    ),
    **dict.fromkeys(("api_docs", "api_schema"), "the description of the API: nothing stored is shown"),
    "new_findings": "what the scan of an upload has found so far: nothing stored is shown",
    **dict.fromkeys(("account_filter_save", "account_filter_delete"), "saved filters, which the rows do not have"),
    **dict.fromkeys(
        ("new_from_lines", "new_together"),
        "files of a connection in a new import, which the rows do not have",
    ),
    "job_why": "what the server does now: nothing stored is shown",
    "lab_experiment_start": "reaches the target's server, which the rows do not have",
    "lab_report": "the stored report of an experiment, which the rows do not have",
    "uploads": "begins an upload: nothing stored is shown",
    "upload": "speaks tus, and has a test of its own",
    **dict.fromkeys(
        ("direct_uploads", "direct_upload", "direct_part"),
        "uploads straight into a store, which the rows do not have",
    ),
}
# Names whose pages are looked at for every object, not only for those above.
OF_EACH = {
    "job": JOBS,
    "job_live": JOBS,
    "job_rates": JOBS,
    "job_why": JOBS,
    "job_timings": JOBS,
    "lab": LABS,
    "lab_live": LABS,
    "lab_charts": LABS,
    "schedule": SCHEDULES,
    "schedule_edit": SCHEDULES,
    "schedule_subscriptions": SCHEDULES,
    "channel": CHANNELS,
}
