/** A part of the console that could not be loaded. `cause` is the error of the browser. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded'

  constructor(cause: unknown) {
    super('Postroad could not load a part of the console.', { cause })
  }
}

/** Loads a part of the console. A failure has its own error class, so that the page can wait for the server. */
export async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    throw new NotLoaded(cause)
  }
}
