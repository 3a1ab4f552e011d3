/** Attacks on the login. `guess` makes the next guess: from which address, at which name. */
export const ATTACKS = {
  botnet: {
    note: 'Each guess at Ada’s password comes from another address. The account allows 10 failures in 30 minutes.',
    start: () => (i) => ({ address: addressAt(i), username: 'ada', password: `guess-${i}` }),
  },
  single: {
    note: 'All guesses at Ada’s password come from one address, which has 5 failures at one account.',
    start() {
      const address = addressAt(0)
      return (i) => ({ address, username: 'ada', password: `guess-${i}` })
    },
  },
  stuffing: {
    note: 'One address tries a list of names and passwords. It has 50 failures in an hour, whatever the account.',
    start() {
      const address = addressAt(0)
      return (i) => ({ address, username: `user-${i}`, password: `leaked-${i}` })
    },
  },
}

/** Each attack uses addresses of its own, of the networks for benchmarks (RFC 2544). */
function addressAt(i) {
  const random = () => Math.floor(Math.random() * 256)
  return `198.${18 + (i % 2)}.${random()}.${random()}`
}
