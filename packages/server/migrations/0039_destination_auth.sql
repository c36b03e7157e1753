-- How a destination is reached beyond its URL; sealed. The access token belongs to `auth` and goes when that changes.
alter table destinations add column auth bytea;
alter table destinations add column tls bytea;
alter table destinations add column proxy bytea;
alter table destinations add column access_token bytea;
