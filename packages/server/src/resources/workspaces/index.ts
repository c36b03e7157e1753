export { findFirstWorkspace, findMember, findOwner, findWorkspace, insertOwner, insertWorkspace } from './queries.ts'
