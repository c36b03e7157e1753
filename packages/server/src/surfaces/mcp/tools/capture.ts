import { CONDITIONS, DELIVERY_STATES, SEARCHED, type Tool } from './tool.ts'

/** The members of an endpoint that a model sets when it creates or changes one. */
const ENDPOINT_SETTINGS = [
  'name',
  'dataset',
  'criteria',
  'mappings',
  'verification',
  'handshake',
  'response',
  'body_as',
  'split',
  'idempotency',
  'event_title',
]

/** Endpoints, rules, and the received events. */
export const capture: readonly Tool[] = [
  {
    name: 'events_search',
    route: 'search.events',
    title: 'Search events',
    description:
      'Finds stored events (records) by text, by conditions on the payload, by dataset, endpoint, time, or the state of their deliveries. Newest first. A page may be empty although more follow, so continue while there is a next_cursor. Use event_story for everything that happened to one of them. A request that no criteria and no rule matched has no record: use unmatched_search.',
    says: {
      f: `Conditions on the payload ${SEARCHED}`,
      webhook: 'Only events that this endpoint received (whk_…).',
      destination: 'Only events with a delivery to this destination (dst_…).',
      state: `Only events with a delivery in one of these states: ${DELIVERY_STATES}`,
      rule: 'Only events that this rule filed (rul_…).',
    },
  },
  {
    name: 'events_wait',
    route: 'search.wait',
    title: 'Wait for events',
    description:
      'The next events of a dataset, at least once and in order; waits until one comes. Call it, act on the events, and call it again with after: the cursor of the answer. Save the cursor: it stays valid after a restart.',
    says: {
      f: 'As in events_search.',
      after: '`cursor` of the previous answer. Absent: from now on.',
      wait_seconds: 'Up to 60; 0: do not wait. Absent: 25.',
      limit: 'Absent: 20.',
    },
  },
  {
    name: 'event_get',
    route: 'records.get',
    title: 'Get an event',
    description:
      'One event with its whole payload in record.data. With "path" it returns one part of the answer, such as "record.data.items.0".',
    takes: ['id'],
  },
  {
    name: 'event_story',
    route: 'search.correlate',
    title: 'Explain an event',
    description:
      'Everything about one id: the request, why each rule and destination matched or not, the records, and the deliveries with their attempts. Takes the id of a submission, record, delivery, attempt, workflow instance, AI run or rejection, or a Request-Id. The best first step when an event is missing, or a delivery failed.',
  },
  {
    name: 'unmatched_search',
    route: 'search.submissions',
    title: 'Search requests that nothing matched',
    description:
      'Accepted requests that made no event, because no criteria and no rule matched them. event_story with the id of one (sub_…) says which condition failed on which value.',
    says: {
      f: 'As in events_search.',
      webhook: 'Only requests to this endpoint (whk_…).',
    },
  },
  {
    name: 'rejections_list',
    route: 'rejections.list',
    title: 'List rejected requests',
    description:
      'Rejected requests with the reason, such as a bad signature, and the remedy. For a signature, endpoint_refused_samples shows the request.',
    says: {
      webhook_id: 'Only requests to this endpoint (whk_…).',
      ingest_key_id: 'Only requests with this ingest key (iky_…).',
    },
  },
  {
    name: 'endpoints_list',
    route: 'webhooks.list',
    title: 'List endpoints',
    description: 'The endpoints (webhooks) of the project with their public URLs.',
    shows: ['id', 'name', 'slug', 'dataset', 'enabled', 'verification', 'public_url', 'updated_at'],
  },
  {
    name: 'endpoint_get',
    route: 'webhooks.get',
    title: 'Get an endpoint',
    description: 'One endpoint with all its settings.',
  },
  {
    name: 'endpoint_create',
    route: 'webhooks.create',
    title: 'Create an endpoint',
    description:
      'Creates a URL that receives webhooks: give public_url of the answer to the sender. Set "verification" so that only signed requests are accepted; without it, anyone who knows the URL can send. senders_list has the arguments for known providers: merge its "settings" into these and add verification.secret (GitHub: {"scheme":"code_host","secret":"…"}). Without a secret yet, send {"scheme":"…","without_secret":true} as verification, and set the secret later with endpoint_update.',
    takes: ['slug', ...ENDPOINT_SETTINGS],
    brief: ['handshake'],
    says: {
      criteria: `Conditions on the payload; a request that does not match is stored without an event. ${CONDITIONS}`,
      verification:
        'How requests prove their sender. code_host: GitHub. payments_provider: Stripe. commerce_platform: Shopify. chat_platform: Slack. hmac: any HMAC of the body. secret is write-only.',
      mappings: 'Fields of the record; an empty list files the whole payload.',
      handshake:
        'How a provider checks who controls the URL. Most need none. senders_list has those of known providers. Any other: ' +
        '{"when":{"method":"POST","query":"token"},"answer":{"body":"{{ query.token }}"}}.',
      body_as: 'text or xml for bodies that are no JSON and no form.',
      split: 'Makes a record of each item: {"path":"events"}, {"path":""} for the whole payload, or "lines".',
      response: 'For a provider that requires a certain response to its events, such as 200. null: 201.',
      idempotency: 'The header or path with an id of the event, so that a repeat is stored once.',
      event_title: 'The header or path with the name of the event, shown in lists.',
    },
  },
  {
    name: 'endpoint_update',
    route: 'webhooks.update',
    title: 'Change an endpoint',
    description:
      'Changes the members that you send. enabled: false makes it answer 503. In "verification" the secret may be left out to retain the stored one.',
    takes: ['id', 'enabled', ...ENDPOINT_SETTINGS],
    brief: ['handshake'],
    says: {
      criteria: `Replaces all criteria. ${CONDITIONS}`,
      verification: 'As in endpoint_create.',
      mappings: 'Replaces all mappings.',
      handshake: 'As in endpoint_create.',
      response: 'As in endpoint_create.',
      body_as: 'As in endpoint_create.',
      split: 'As in endpoint_create.',
      idempotency: 'As in endpoint_create.',
      event_title: 'As in endpoint_create.',
    },
    destructive: true,
  },
  {
    name: 'endpoint_delete',
    route: 'webhooks.remove',
    title: 'Delete an endpoint',
    description:
      'Deletes an endpoint. Its URL answers 404 from then on, and its stored events stay. deletion_restore undoes it for 24 hours.',
    destructive: true,
  },
  {
    name: 'endpoint_test',
    route: 'webhooks.test',
    title: 'Try criteria and mappings',
    description:
      'Shows the records that criteria and mappings would make from payloads that you send, or from the newest that the endpoint received. Stores nothing. Try here before endpoint_update.',
    takes: ['id', 'criteria', 'mappings', 'payloads', 'recent'],
    says: {
      criteria: `Absent: those of the endpoint. ${CONDITIONS}`,
      mappings: 'Absent: those of the endpoint.',
    },
  },
  {
    name: 'endpoint_refused_samples',
    route: 'webhooks.refusedSamples',
    title: 'See rejected requests of an endpoint',
    description:
      'The newest rejected request for each reason, redacted, with an explanation, such as a missing header, another signature format, or a body that changed in transit.',
  },
  {
    name: 'senders_list',
    route: 'sourcePresets.list',
    title: 'List known senders',
    description:
      'The ids of providers such as GitHub, Stripe or Shopify. Send one as "path", such as "github", to get part.settings, which are arguments of endpoint_create, and the steps at the provider.',
    shows: ['id', 'name'],
  },
  {
    name: 'rules_list',
    route: 'rules.list',
    title: 'List rules',
    description:
      'Rules file payloads of POST /v1/ingest/{key} into datasets. Endpoints have their own criteria instead.',
  },
  {
    name: 'rule_test',
    route: 'rules.test',
    title: 'Try a rule',
    description:
      'Reports for each payload whether conditions match, which one failed and on what value. Stores nothing. Try a payload that must match and one that must not before rule_create.',
    takes: ['rule_id', 'conditions', 'mappings', 'payloads', 'recent'],
    says: { conditions: CONDITIONS, mappings: 'Fields of the record; absent: the whole payload.' },
  },
  {
    name: 'rule_create',
    route: 'rules.create',
    title: 'Create a rule',
    description:
      'Files matching payloads of POST /v1/ingest/{key} into a dataset. Each matching rule writes a separate event.',
    says: { conditions: CONDITIONS, mappings: 'Fields of the record; an empty list files the whole payload.' },
  },
  {
    name: 'rule_update',
    route: 'rules.update',
    title: 'Change a rule',
    description: 'Changes the members that you send. enabled: false turns the rule off.',
    says: { conditions: `Replaces all conditions. ${CONDITIONS}`, mappings: 'Replaces all mappings.' },
    destructive: true,
  },
  {
    name: 'rule_delete',
    route: 'rules.remove',
    title: 'Delete a rule',
    description: 'Deletes a rule. Events that it filed stay. deletion_restore undoes it for 24 hours.',
    destructive: true,
  },
  {
    name: 'ingest_key_create',
    route: 'ingestKeys.create',
    title: 'Create an ingest key',
    description:
      'Creates a key to send events to this server: POST /v1/ingest/{key} evaluates the rules, and POST /v1/ingest/{key}/{dataset} files the payload into that dataset. The host is that of public_url in endpoints_list. The answer has the key once.',
    takes: ['name', 'scopes', 'datasets'],
  },
  {
    name: 'datasets_list',
    route: 'datasets.list',
    title: 'List datasets',
    description: 'The datasets of the project with their ids (dts_…). dataset_schema has the fields of one.',
  },
  {
    name: 'dataset_schema',
    route: 'datasetSchemas.get',
    title: 'Get the fields of a dataset',
    description:
      'The fields that records of a dataset have, with their types, by its id from datasets_list. Read it before you write conditions or mappings.',
  },
]
