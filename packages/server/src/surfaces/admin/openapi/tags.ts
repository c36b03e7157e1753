import type { Routes } from '@postroad/contract'
import type { Json } from './schemas.ts'

const DESCRIPTIONS: Readonly<Record<keyof Routes | 'ingest' | 'stream' | 'signIn' | 'receive', string>> = {
  ingest: 'Send events to Postroad: through the URL of an endpoint, or with an ingest key.',
  receive: 'The request that Postroad sends to your destination.',
  webhooks: 'Endpoints: the URLs that accept events, with their verification, criteria and mappings.',
  rules: 'Rules file events of POST /v1/ingest/{ingest_key} into datasets.',
  datasets: 'Named sets of records.',
  ingestKeys: 'Keys that send events, and read the stream, without the URL of an endpoint.',
  submissions: 'Accepted requests, with their bodies as received and the reason for their routing.',
  records: 'Records, also called events: the payloads as filed.',
  recordViews: 'Saved columns and orders for the records of an endpoint.',
  activity: 'Requests that an endpoint received and refused.',
  rejections: 'Refused requests, counted by credential, reason and minute.',
  destinations: 'Receivers of deliveries, with their signing, retries, limits and health.',
  destinationPresets: 'Settings for well-known receivers.',
  destinationSinks: 'Destinations that this server receives itself, to try out deliveries.',
  destinationPreviews: 'The request that a destination would receive.',
  deliveries: 'Records on their way to a destination, with every attempt.',
  deliveryHolds: 'Destinations that hold deliveries back, and why.',
  replays: 'Replays of many deliveries, with their plan and progress.',
  search: 'Search events and deliveries, and find everything that belongs to one id.',
  stream: 'Live streams of records, deliveries and refused requests.',
  dashboard: 'Counts and latencies over time.',
  projects: 'Projects group endpoints, rules, datasets and destinations.',
  workspaces: 'Workspaces own projects and have members.',
  members: 'People in the workspace, and their roles.',
  invites: 'Open invitations to the workspace.',
  apiKeys: 'Keys for this API.',
  audit: 'The log of every change, chained by hash.',
  dataExport: 'Exports of the whole workspace as one zip.',
  me: 'The identity behind a credential.',
  signIn: 'Sessions and accounts of people. These routes take a session cookie or no credential, never an API key.',
}

export const TAGS: readonly Json[] = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }))
