import { AsyncLocalStorage } from 'node:async_hooks'

/** The request that the library is answering. Its storage is called without it. */
export type RequestOf = { readonly id: string; readonly path: string; readonly ip: string | undefined }

export const requestOf = new AsyncLocalStorage<RequestOf>()
