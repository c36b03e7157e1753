-- The request of an attempt: its URL, the headers that cannot be derived, the names of those that are write-only, and the
-- digest of its body (docs/adr/0100). Written with the outcome of the attempt.
alter table delivery_attempts add column request json;
