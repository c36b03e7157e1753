/** Each connection runs these statements, so that PostgreSQL writes values in the same form on all of them. */
export const SESSION = ["set timezone = 'UTC'", "set datestyle = 'ISO, YMD'", "set bytea_output = 'hex'"]
