-- How often an audit row told of this one, so that a flood of forgeries cannot fill the audit log.
alter table rejections add column audit_rows smallint not null default 0;
