export { auditOwn } from './audit-own.ts'
export {
  findMember,
  findUser,
  findUserByEmail,
  insertUser,
  lockUserByEmail,
  setEmail,
  type UserRow,
} from './queries.ts'
