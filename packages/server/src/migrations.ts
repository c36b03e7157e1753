/** The folder of the migrations. */
export const MIGRATIONS = new URL('../migrations/', import.meta.url)
