/** The parts of the contract that only the OpenAPI document and its tests need: names, refusals and examples. The console does not load them. */
export { ATTEMPT_ERRORS } from './attempt-errors.ts'
export { EXAMPLE_TIME, exampleId } from './example-id.ts'
export { bodyExample, MEMBER_EXAMPLES } from './examples.ts'
export { AGENT_REASONS, DATA_REASONS, INGEST_REASONS, reasonsOf, STREAM_REASONS, type OperationId } from './refusals.ts'
export { PORTAL_API_BODIES, PORTAL_REASONS } from './portal-examples.ts'
export { ROOMS } from './rooms.ts'
export { NAMED_SCHEMAS } from './schema-names.ts'
