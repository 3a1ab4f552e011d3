/** Habits that give away a translation, and words that the glossary of how-it-works rules out. */
const HABITS = [
  /\bof (?:its|their|your|our|theirs|yours|ours) own\b/i,
  /, too[.,;:]/i,
  /\bof (?:theirs|yours|ours)\b/i,
  /\b(?:of|by|denies|forgets) nobody\b|\bsomebody\b/i,
  /\bas ever\b/i,
  /\bstand-in\b/i,
  /(?<!\bthere )\b(?:is|are|be) no (?!(?:longer|more|less|fewer|earlier|later)\b)[a-z]+/i,
]

/** Returns the texts that have one of the habits. */
export function withHabits(texts: readonly string[]): string[] {
  return texts.filter((text) => HABITS.some((habit) => habit.test(text)))
}
