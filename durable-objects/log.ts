/** One line of JSON an event: what an operator's log tools can search. */
export function log(event: string, fields: Record<string, unknown>): void {
  console.log(JSON.stringify({ event, ...fields }))
}

/** The same for what goes as it should: of level `debug`, for whoever wants to know what a request costs. */
export function logRoutine(event: string, fields: Record<string, unknown>): void {
  console.debug(JSON.stringify({ event, ...fields }))
}
