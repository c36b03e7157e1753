export { findIdentity, insertIdentity, listIdentities } from './queries.ts'
