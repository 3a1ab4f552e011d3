import { answerQuestions } from '../../bench/harness/child.js'
import { openInChild } from './open-in-child.js'
import { chargePairs, type PairsQuestion, takeAll } from './pairs.js'

const opened = openInChild()

/** One process. Whatever nobody catches ends it. */
answerQuestions((question: PairsQuestion) =>
  'take' in question ? takeAll(opened, question.take) : chargePairs(opened, question),
)
