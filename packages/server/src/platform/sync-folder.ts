import { closeSync, fsyncSync, openSync } from 'node:fs'

/** Forces the entries of a folder to disk, so that a file that was moved into it survives a crash of the machine. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
