export { countOverdueInstances } from './queries.ts'
