export { auditOwn } from './audit-own.ts'
export { findUser, findUserByEmail, setEmail, type UserRow } from './queries.ts'
