export { cancelInstancesOf, haltInstances, resumeInstances } from './queries.ts'
