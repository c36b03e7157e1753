/** What only the OpenAPI document and its tests need of the contract: names, refusals and examples. The console does not load it. */
export { ATTEMPT_ERRORS } from './attempt-errors.ts'
export { BODY_EXAMPLES, EXAMPLE_TIME, exampleId, MEMBER_EXAMPLES } from './examples.ts'
export { INGEST_REASONS, reasonsOf, STREAM_REASONS, type OperationId } from './refusals.ts'
export { NAMED_SCHEMAS } from './schema-names.ts'
