export { findFirstWorkspace, findMember, findOwner, findWorkspace, insertOwner, insertWorkspace, type WorkspaceRow } from './queries.ts'
