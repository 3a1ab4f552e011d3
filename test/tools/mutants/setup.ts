import fc from 'fast-check'

// A mutant needs one counterexample, not the smallest one; and few runs find most of them.
fc.configureGlobal({ endOnFailure: true, numRuns: 30 })
