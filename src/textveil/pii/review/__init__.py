"""The review of found spans by people: a store, a queue, agreement of reviewers, exports."""
