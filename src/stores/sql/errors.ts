/** Why a charge is not decided whose row was written by something else. */
export class Unreadable extends Error {
  constructor() {
    super('a row holds no state: something else writes to the table')
  }
}
