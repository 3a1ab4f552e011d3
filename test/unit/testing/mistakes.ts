import {
  applyOperations,
  applyRefunds,
  type Charge,
  decideCharges,
  type Refund,
  type Verdict,
} from 'headgate'
import type { Parts } from './map-store.js'

/** A mistake in a store, and a case of the suite that shows it. */
export interface Mistake {
  readonly shownBy: string
  breakIt(parts: Parts): Partial<Parts>
}

const changeParts = (charges: readonly Charge[], change: (part: Charge[number]) => Charge[number]) =>
  charges.map((charge) => charge.map(change))
const changeRefunds = ({ refund }: Parts, change: (refund: Refund) => Refund): Partial<Parts> => ({
  refund: (refunds) => refund(refunds.map(change)),
})
const changeKeys = ({ charge, refund, forget }: Parts, change: (key: string) => string): Partial<Parts> => {
  const changeKey = <T extends { readonly key: string }>(each: T): T => ({ ...each, key: change(each.key) })
  return {
    charge: (charges) => charge(changeParts(charges, changeKey)),
    refund: (refunds) => refund(refunds.map(changeKey)),
    forget: (keys) => forget(keys.map(changeKey)),
  }
}

/** Mistakes that store authors make. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  'charges a peek as one unit': {
    shownBy: 'one charge of a tokenBucket takes nothing at cost 0, even when nothing is left',
    breakIt: ({ charge }) => ({
      charge: (charges) =>
        charge(changeParts(charges, (part) => ({ ...part, cost: Math.max(1, part.cost) }))),
    }),
  },

  'loses what a denial writes, so that no ban begins': {
    shownBy:
      'a ban from a slidingWindow begins after its number of denials, and denies what the policy would allow',
    breakIt: ({ clock, read, write }) => ({
      charge: (charges) =>
        charges.map((charge) => {
          const { verdicts, writes } = decideCharges([charge], read, clock())
          if (verdicts[0]?.allowed) write(writes)
          return verdicts[0] as Verdict
        }),
    }),
  },

  'drops states before their time': {
    shownBy: 'in time, a tokenBucket shows the figures of the policy all the way until it is fresh again',
    breakIt: ({ write }) => ({
      write: (writes) => write(writes.map((each) => ({ ...each, ttlMs: each.ttlMs / 2 }))),
    }),
  },

  'rounds times to live down to seconds': {
    shownBy: 'in time, a slidingWindow shows the figures of the policy all the way until it is fresh again',
    breakIt: ({ write }) => ({
      write: (writes) =>
        write(writes.map((each) => ({ ...each, ttlMs: Math.floor(each.ttlMs / 1000) * 1000 }))),
    }),
  },

  'takes the parts that allow of a denied charge': {
    shownBy:
      'a charge of several parts of a fixedWindow takes none when the last one denies, and shows the others unchanged',
    breakIt: ({ charge, clock }) => ({
      charge: (charges) =>
        charges.map((parts) => {
          const each = (charge(parts.map((part) => [part])) as readonly Verdict[]).map(({ parts }) => parts)
          const steps = each.flat()
          return { allowed: steps.every(({ allowed }) => allowed), atMs: clock(), parts: steps }
        }),
    }),
  },

  'decides a batch in another order': {
    shownBy: 'in a batch, a consecutive lets two charges of one key see each other, in order',
    breakIt: ({ charge }) => ({
      charge: (charges) => (charge(charges.toReversed()) as readonly Verdict[]).toReversed(),
    }),
  },

  'decides each charge of a batch on the states before the batch': {
    shownBy: 'in a batch, a tokenBucket allows exactly its limit of 1,000 charges of one key in one batch',
    breakIt: ({ clock, read, write }) => ({
      charge(charges) {
        const decided = charges.map((charge) => decideCharges([charge], read, clock()))
        for (const { writes } of decided) write(writes)
        return decided.flatMap(({ verdicts }) => verdicts)
      },
    }),
  },

  'lets others write between its read and its write': {
    shownBy: 'in a batch, a fixedWindow allows exactly its limit of 1,000 concurrent calls for one key',
    breakIt: ({ clock, read, write }) => ({
      async charge(charges) {
        const before = new Map(charges.flat().map(({ key }) => [key, read(key)]))
        await undefined
        const { verdicts, writes } = decideCharges(charges, (key) => before.get(key), clock())
        write(writes)
        return verdicts
      },
    }),
  },

  'refunds into the window of now': {
    shownBy: 'a refund to a fixedWindow changes nothing if the units were taken windows ago',
    breakIt: (parts) =>
      changeRefunds(parts, ({ resetAtMs: _, ...rest }) => ({ ...rest, takenAtMs: parts.clock() })),
  },

  'ignores resetAtMs of a refund': {
    shownBy: 'a refund to a tokenBucket changes nothing if the units were restored by resetAtMs',
    breakIt: (parts) => changeRefunds(parts, ({ resetAtMs: _, ...rest }) => rest),
  },

  'decides refunds of one key on the state before them': {
    shownBy: 'a refund to a slidingWindow may name one key several times',
    breakIt: ({ clock, read, write }) => ({
      refund: (refunds) => write(refunds.flatMap((each) => applyRefunds([each], read, clock()))),
    }),
  },

  'lets others write between the read and the write of an operation': {
    shownBy: 'an operation on a fixedWindow loses no concurrent charge and no concurrent operation',
    breakIt: ({ clock, read, write }) => ({
      async apply(operations) {
        const before = new Map(operations.map(({ key }) => [key, read(key)]))
        await undefined
        const { results, writes } = applyOperations(operations, (key) => before.get(key), clock())
        write(writes)
        return results
      },
    }),
  },

  'returns the time of an operation in seconds': {
    shownBy: 'an operation on a slidingWindow can be refunded by the time in its result',
    breakIt: ({ apply }) => ({
      apply: async (operations) =>
        (await apply(operations)).map((result) => ({ ...result, atMs: result.atMs / 1000 })),
    }),
  },

  'keeps a key whose state an operation removes': {
    shownBy: 'an operation on a tokenBucket gives back its units, or as many as are taken',
    breakIt: ({ clock, read, write }) => ({
      apply(operations) {
        const { results, writes } = applyOperations(operations, read, clock())
        write(writes.filter(({ state }) => state !== undefined))
        return results
      },
    }),
  },

  'folds the case of keys': {
    shownBy: 'the awkward keys of printable are all distinct',
    breakIt: (parts) => changeKeys(parts, (key) => key.toLowerCase()),
  },

  'trims keys': {
    shownBy: 'the awkward keys of all are all distinct',
    breakIt: (parts) => changeKeys(parts, (key) => key.trim()),
  },

  'cuts keys off': {
    shownBy: 'the awkward keys of printable are all distinct',
    breakIt: (parts) => changeKeys(parts, (key) => key.slice(0, 249)),
  },

  'forgets nothing': {
    shownBy: 'a forget, with a consecutive, makes a key fresh, and leaves the others alone',
    breakIt: () => ({ forget() {} }),
  },

  'returns a verdict too few': {
    shownBy: 'a batch has one verdict per charge, in order',
    breakIt: ({ charge }) => ({ charge: (charges) => (charge(charges) as readonly Verdict[]).slice(0, 199) }),
  },

  'returns verdicts without figures': {
    shownBy: 'one charge of a tokenBucket is allowed up to the limit, and denied from there on',
    breakIt: ({ charge }) => ({
      charge: (charges) =>
        (charge(charges) as readonly Verdict[]).map((verdict) => ({ ...verdict, parts: [] })),
    }),
  },

  'is not emptied for the next test': {
    shownBy: 'makeStore makes empty stores',
    breakIt: () => ({ states: LEFT_OVER }),
  },

  'has a clock that nothing advances': {
    shownBy: 'advance lets time pass by the clock of the store',
    breakIt: ({ read, write }) => ({
      charge(charges) {
        const { verdicts, writes } = decideCharges(charges, read, 0)
        write(writes)
        return verdicts
      },
    }),
  },
}

const LEFT_OVER: Parts['states'] = new Map()
