/** Why a charge is not decided whose row was written by something else. */
export function unreadable(): Error {
  return new Error('a row holds no state: something else writes to the table')
}
