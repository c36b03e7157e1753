export { findUsage } from './queries.ts'
