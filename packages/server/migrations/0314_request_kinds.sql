-- One pending request of each kind, because a request for an organization must not replace one for single sign-on.
drop index sso_requests_pending;
create unique index sso_requests_pending on sso_requests (workspace_id, kinds) where status = 'pending';
