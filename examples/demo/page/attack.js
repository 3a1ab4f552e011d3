/** Attacks on the login. `guess` makes the next guess: from which address, at which name. */
export const ATTACKS = {
  botnet: {
    note: 'Each guess at Ada’s password comes from a different IP address. The account allows 10 failures in 30 minutes.',
    start: () => (i) => ({ address: addressAt(i), username: 'ada', password: `guess-${i}` }),
  },
  single: {
    note: 'All guesses at Ada’s password come from one IP address, which may fail 5 times at one account.',
    start() {
      const address = addressAt(0)
      return (i) => ({ address, username: 'ada', password: `guess-${i}` })
    },
  },
  stuffing: {
    note: 'One IP address tries a list of names and passwords. It may fail 50 times an hour across all accounts.',
    start() {
      const address = addressAt(0)
      return (i) => ({ address, username: `user-${i}`, password: `leaked-${i}` })
    },
  },
}

/** Returns an address from the networks for benchmarks (RFC 2544): a different one for each attack. */
function addressAt(i) {
  const random = () => Math.floor(Math.random() * 256)
  return `198.${18 + (i % 2)}.${random()}.${random()}`
}
