-- The response of an endpoint to an accepted event; null: 201 with the body of the contract.
alter table webhooks add column response json;

-- Earlier versions are shown with the member that they lacked.
update webhook_versions
   set config = regexp_replace(config::text, '\}\s*$', ',"response":null}')::json;
