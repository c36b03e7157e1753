export { auditOwn } from './audit-own.ts'
export { findMember, findUser, findUserByEmail, insertUser, setEmail, type UserRow } from './queries.ts'
