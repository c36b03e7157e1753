/** The directory of credentials. Rooms that create a credential store its hash here. */
export {
  deleteCredentialsOf,
  deleteCredentialsOfProject,
  deleteOtherCredentialsOf,
  endCredentialAt,
  findCredential,
  insertCredential,
} from './queries.ts'
