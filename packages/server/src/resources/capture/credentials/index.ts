/** The directory of credentials: rooms that mint one file its hash here. */
export {
  deleteCredentialsOf,
  deleteCredentialsOfProject,
  deleteOtherCredentialsOf,
  endCredentialAt,
  findCredential,
  insertCredential,
} from './queries.ts'
