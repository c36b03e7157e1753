export { listStandings, reinstateWorkspace, suspendWorkspace, type Standing } from './suspend.ts'
export { findFirstWorkspace, findMember, findOwner, findWorkspace, insertOwner, insertWorkspace } from './queries.ts'
