-- A plan is made once for a connection, and for the tables of a day while they are empty: then an index that begins with the
-- workspace alone seems as good as the right one, and stays in use while the day fills. These begin with what they are for.
drop index delivery_attempts_delivery;
create index delivery_attempts_delivery on delivery_attempts (delivery_id);
drop index deliveries_record;
create index deliveries_record on deliveries (record_id);
