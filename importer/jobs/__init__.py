"""The life of an import job. Only this package changes the state of jobs and chunks.

In reading order: transitions, the compare-and-set updates of the states; sharing/, who may load now; rejects/ and
report, what a job amounts to; record, its facts for the history; approval, plans that another person must approve;
lifecycle, what comes next, and how a job ends; steps/, claims and results of the workers' steps; actions/, what people
do with a job.
"""
