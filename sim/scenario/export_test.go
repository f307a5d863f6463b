package scenario

// What the schema takes from the parser.
var (
	Worlds       = worlds
	Verbs        = verbs
	Methods      = methods
	Actions      = actions
	AfterCancels = afterCancels
	Resources    = resources
	PhasesOf     = phasesOf
	RuleNames    = ruleNames
)

// The parser's bounds.
const (
	MaxItems        = maxItems
	MaxScheduleName = maxScheduleName
)
