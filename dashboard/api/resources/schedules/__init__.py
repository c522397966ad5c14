"""Operations on schedules: the schedules themselves, their previews and runs, new headers and subscriptions."""
