import { CONDITIONS, DELIVERY_STATES, type Tool } from './tool.ts'

/** Destinations, deliveries and their attempts. */
export const delivery: readonly Tool[] = [
  {
    name: 'destinations_list',
    route: 'destinations.list',
    title: 'List destinations',
    description: 'The URLs to which events are delivered.',
    shows: ['id', 'name', 'url', 'enabled', 'disabled_reason', 'datasets', 'conditions', 'breaker'],
  },
  {
    name: 'destination_create',
    route: 'destinations.create',
    title: 'Create a destination',
    description:
      'Delivers every new event that matches its datasets and conditions to a URL, signed and retried. The answer contains the signing secret, which is shown only once. Then call destination_test.',
    takes: [
      'name',
      'url',
      'datasets',
      'conditions',
      'retry',
      'timeout_ms',
      'rate_limit',
      'ordering',
      'payload_template',
      'body',
    ],
    says: {
      conditions: CONDITIONS,
      ordering: '"none", or {"path": "customer.id"}: events with the same value are delivered in order.',
      payload_template: 'JSON that replaces the body; its strings are Liquid. null: none.',
      body: 'thin: a link; as_received: the request unchanged.',
      retry: 'schedule_seconds has the wait before each attempt: [0, 60] makes two attempts. null: about 3 days.',
    },
  },
  {
    name: 'destination_update',
    route: 'destinations.update',
    title: 'Change a destination',
    description:
      'Changes the members that you send. enabled: true turns a disabled destination on, which sends its paused deliveries.',
    takes: [
      'id',
      'name',
      'url',
      'enabled',
      'datasets',
      'conditions',
      'retry',
      'timeout_ms',
      'rate_limit',
      'ordering',
      'payload_template',
      'body',
    ],
    says: {
      conditions: 'Replaces all conditions; each as in create.',
      ordering: 'As in create.',
      payload_template: 'As in create.',
      body: 'As in create.',
      retry: 'As in create.',
    },
    destructive: true,
  },
  {
    name: 'destination_delete',
    route: 'destinations.remove',
    title: 'Delete a destination',
    description:
      'Deletes a destination and cancels its deliveries that are not done. deletion_restore undoes both for 24 hours.',
    destructive: true,
  },
  {
    name: 'destination_test',
    route: 'destinations.test',
    title: 'Test a destination',
    description:
      'Sends a sample, or an event by record_id, to the destination now, and returns its answer. It is not stored as a delivery: use delivery_replay for one that failed.',
    says: { record_id: 'The event to send (rec_…). Absent: a sample.' },
    reaches: true,
  },
  {
    name: 'destination_health',
    route: 'destinations.health',
    title: 'Check a destination',
    description: 'Success ratio, durations, backlog, and the state of the breaker of one destination.',
  },
  {
    name: 'deliveries_search',
    route: 'search.deliveries',
    title: 'Search deliveries',
    description: 'Finds deliveries by state, destination, payload or time. delivery_get has the attempts of one.',
    says: {
      f: 'As in events_search.',
      webhook: 'Only deliveries of events that this endpoint received (whk_…).',
      destination: 'Only deliveries to this destination (dst_…).',
      state: `One or more of ${DELIVERY_STATES}`,
      rule: 'Only deliveries of events that this rule filed (rul_…).',
    },
  },
  {
    name: 'delivery_get',
    route: 'deliveries.get',
    title: 'Get a delivery',
    description:
      'One delivery with every attempt: the status, body and error of each answer. Read it to find out why a delivery failed, then fix the receiver and call delivery_replay.',
  },
  {
    name: 'delivery_replay',
    route: 'deliveries.replay',
    title: 'Replay a delivery',
    description:
      'Sends a delivery that is delivered, failed or canceled again, with the same body and event id. The receiver may get the event twice. For one that is retrying, use delivery_retry; paused ones go on when destination_update enables their destination.',
    reaches: true,
  },
  {
    name: 'delivery_retry',
    route: 'deliveries.retry',
    title: 'Retry a delivery now',
    description:
      'Makes the next attempt of a delivery that is pending or retrying due now. delivery_get has the result.',
    repeatable: true,
    reaches: true,
  },
  {
    name: 'deliveries_replay',
    route: 'replays.create',
    title: 'Replay deliveries in bulk',
    description:
      'Sends all deliveries that a filter matches again, at a steady rate. First send "dry_run": true: the plan says how many match and how long it takes. Then repeat it without dry_run, and follow it with deliveries_search.',
    says: {
      filter:
        'Which deliveries. {} is all failed ones; state is a list, such as ["failed"]; an id goes into destination_id, webhook_id or record_id.',
    },
    reaches: true,
  },
]
