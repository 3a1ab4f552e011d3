import type { Charge, ChargeResult, Operation, Part, Refund, Result, ResultOf, Take } from 'headgate/store'
import { applyOperations } from 'headgate/store'
import { keysOf } from '../../../src/stores/operation.js'
import type { BrokenPieces, StorePieces } from './map-store.js'

/** A mistake in a store, and a case of the suite that shows it. */
export interface Mistake {
  readonly shownBy: string
  breakIt(pieces: StorePieces): BrokenPieces
}

const isCharge = (operation: Operation): operation is Charge => operation.type === 'charge'
const changeOperations = ({ apply }: StorePieces, change: (operation: Operation) => Operation) => ({
  apply: (operations: readonly Operation[]) => apply(operations.map(change)),
})
const changeParts = (operation: Operation, change: (part: Part) => Part): Operation =>
  isCharge(operation) ? { ...operation, parts: operation.parts.map(change) } : operation
const changeRefunds = (pieces: StorePieces, change: (refund: Refund) => Refund) =>
  changeOperations(pieces, (operation) => (operation.type === 'refund' ? change(operation) : operation))
const changeKeys = (pieces: StorePieces, change: (key: string) => string) => {
  const changeKey = <T extends { readonly key: string }>(each: T): T => ({ ...each, key: change(each.key) })
  return changeOperations(pieces, (operation) =>
    isCharge(operation) ? changeParts(operation, changeKey) : changeKey(operation),
  )
}

/** Applies operations one by one; those of some types in another way. */
const applyEach = ({ apply }: StorePieces, otherwise: (operation: Operation) => Result | undefined) => ({
  apply: (operations: readonly Operation[]) =>
    operations.flatMap((operation) => otherwise(operation) ?? apply([operation])),
})

/** Applies each operation of a type on the states before all of them. */
const applyOnStatesBefore = ({ clock, read, write, apply }: StorePieces, only: Operation['type']) => ({
  apply(operations: readonly Operation[]) {
    if (!operations.every(({ type }) => type === only)) return apply(operations)
    const applied = operations.map((operation) => applyOperations([operation], read, clock()))
    for (const { writes } of applied) write(writes)
    return applied.flatMap(({ outcomes }) => outcomes)
  },
})

/** Lets others write between the read and the write of some operations. */
const applyLate = (
  { clock, read, write, apply }: StorePieces,
  isLate: (operation: Operation) => boolean,
) => ({
  async apply(operations: readonly Operation[]) {
    if (!operations.every(isLate)) return apply(operations)
    const keys = operations.flatMap(keysOf).map(({ key }) => key)
    const before = new Map(keys.map((key) => [key, read(key)]))
    await undefined
    const { outcomes, writes } = applyOperations(operations, (key) => before.get(key), clock())
    write(writes)
    return outcomes
  },
})

/** Changes the outcomes of one type. */
const changeResults = <O extends Operation>(
  { apply }: StorePieces,
  type: O['type'],
  change: (result: ResultOf<O>) => ResultOf<O>,
) => ({
  apply: (operations: readonly Operation[]) =>
    apply(operations).map((result) => (result.type === type ? change(result as ResultOf<O>) : result)),
})

/** Mistakes that store authors make. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  'charges a peek as one unit': {
    shownBy: 'one charge of a tokenBucket takes nothing at cost 0, even when nothing is left',
    breakIt: (pieces) =>
      changeOperations(pieces, (operation) =>
        changeParts(operation, (part) => ({ ...part, cost: Math.max(1, part.cost) })),
      ),
  },

  'loses what a denial writes, so that no ban begins': {
    shownBy:
      'a ban from a slidingWindow begins after its number of denials, and denies what the policy would allow',
    breakIt: (pieces) =>
      applyEach(pieces, (operation) => {
        const { outcomes, writes } = applyOperations([operation], pieces.read, pieces.clock())
        const [result] = outcomes as readonly Result[]
        if (result?.type !== 'charge' || result.allowed) pieces.write(writes)
        return result
      }),
  },

  'drops states before their time': {
    shownBy: 'in time, a tokenBucket shows the figures of the policy all the way until it is fresh again',
    breakIt: ({ write }) => ({
      write: (writes) => write(writes.map((each) => ({ ...each, ttlMs: each.ttlMs / 2 }))),
    }),
  },

  'lets a refund set an earlier expiry': {
    shownBy:
      'a state lasts as long as it counts, after a refund of a unit that was taken under a shorter window',
    breakIt: ({ write }) => ({
      write: (writes) => write(writes.map(({ keepsExpiry: _, ...each }) => each)),
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
    breakIt: (pieces) =>
      applyEach(pieces, (operation) => {
        if (!isCharge(operation)) return undefined
        const alone = operation.parts.map((part): Charge => ({ ...operation, parts: [part] }))
        const parts = pieces.apply(alone).flatMap((result) => (result as ChargeResult).parts)
        const allowed = parts.every((part) => part.allowed)
        return { type: 'charge', allowed, atMs: pieces.clock(), parts }
      }),
  },

  'decides a batch in another order': {
    shownBy: 'in a batch, a consecutive lets two charges of one key see each other, in order',
    breakIt: ({ apply }) => ({
      apply: (operations) => apply(operations.toReversed()).toReversed(),
    }),
  },

  'decides each charge of a batch on the states before the batch': {
    shownBy: 'in a batch, a tokenBucket allows exactly its limit of 1,000 charges of one key in one batch',
    breakIt: (pieces) => applyOnStatesBefore(pieces, 'charge'),
  },

  'lets others write between its read and its write': {
    shownBy: 'in a batch, a fixedWindow allows exactly its limit of 1,000 concurrent calls for one key',
    breakIt: (pieces) => applyLate(pieces, isCharge),
  },

  'refunds into the window of now': {
    shownBy: 'a refund to a fixedWindow changes nothing if the units were taken windows ago',
    breakIt: (pieces) =>
      changeRefunds(pieces, ({ resetAtMs: _, ...rest }) => ({ ...rest, takenAtMs: pieces.clock() })),
  },

  'ignores resetAtMs of a refund': {
    shownBy: 'a refund to a tokenBucket changes nothing if the units were restored by resetAtMs',
    breakIt: (pieces) => changeRefunds(pieces, ({ resetAtMs: _, ...rest }) => rest),
  },

  'decides refunds of one key on the state before them': {
    shownBy: 'a refund to a slidingWindow may name one key several times',
    breakIt: (pieces) => applyOnStatesBefore(pieces, 'refund'),
  },

  'lets others write between the read and the write of an operation': {
    shownBy: 'an operation on a fixedWindow loses no concurrent charge and no concurrent operation',
    breakIt: (pieces) => applyLate(pieces, (operation) => !isCharge(operation)),
  },

  'returns the time of an operation in seconds': {
    shownBy: 'an operation on a slidingWindow can be refunded by the time in its result',
    breakIt: (pieces) =>
      changeResults<Take>(pieces, 'take', (result) => ({ ...result, atMs: result.atMs / 1000 })),
  },

  'keeps a key whose state an operation removes': {
    shownBy: 'an operation on a tokenBucket gives back its units, or as many as are taken',
    breakIt: ({ clock, read, write }) => ({
      apply(operations) {
        const { outcomes, writes } = applyOperations(operations, read, clock())
        write(writes.filter(({ state }) => state !== undefined))
        return outcomes
      },
    }),
  },

  'folds the case of keys': {
    shownBy: 'the awkward keys of printable are all distinct',
    breakIt: (pieces) => changeKeys(pieces, (key) => key.toLowerCase()),
  },

  'trims keys': {
    shownBy: 'the awkward keys of all are all distinct',
    breakIt: (pieces) => changeKeys(pieces, (key) => key.trim()),
  },

  'cuts keys off': {
    shownBy: 'the awkward keys of printable are all distinct',
    breakIt: (pieces) => changeKeys(pieces, (key) => key.slice(0, 249)),
  },

  'forgets nothing': {
    shownBy: 'a forget, with a consecutive, makes a key fresh, and leaves the others alone',
    breakIt: (pieces) => applyEach(pieces, ({ type }) => (type === 'forget' ? { type } : undefined)),
  },

  'returns a verdict too few': {
    shownBy: 'a batch has one verdict per charge, in order',
    breakIt: ({ apply }) => ({ apply: (operations) => apply(operations).slice(0, 199) }),
  },

  'returns verdicts without figures': {
    shownBy: 'one charge of a tokenBucket is allowed up to the limit, and denied from there on',
    breakIt: (pieces) => changeResults<Charge>(pieces, 'charge', (verdict) => ({ ...verdict, parts: [] })),
  },

  'is not emptied for the next test': {
    shownBy: 'makeStore makes empty stores',
    breakIt: () => ({ states: LEFT_OVER }),
  },

  'has a clock that nothing advances': {
    shownBy: 'advance lets time pass by the clock of the store',
    breakIt: ({ read, write }) => ({
      apply(operations) {
        const { outcomes, writes } = applyOperations(operations, read, 0)
        write(writes)
        return outcomes
      },
    }),
  },
}

const LEFT_OVER: StorePieces['states'] = new Map()
