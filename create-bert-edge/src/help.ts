export const help = `Usage: create-bert-edge [folder] [flags]
       create-bert-edge --add region [folder] [--region <aws|container>]

Creates an embedding API for your Cloudflare account. On a terminal it asks for
what no flag says. In CI, without a terminal and with -y it takes the defaults.

  --model <embedded|own>         default embedded: bert-edge-mini, 18 MB;
                                 own: you prepare one later
  --plan <free|paid>             Workers plan, default free:
                                 10 ms of CPU time per request
  --region <none|aws|container>  default none
  --template <edge|edge+region>  default edge; edge+region: a region,
                                 in a container if --region does not say
  --package-manager <name>       npm, pnpm, yarn or bun;
                                 default: the one that runs this command
  --no-install                   write the files, install nothing
  --no-git                       make no Git repository
  -y, --yes                      take the defaults, ask nothing
  --add region                   add a region to the project in this folder;
                                 default container
  -h, --help
  -v, --version`;

/** Said before the first question. */
export const optionsNote = "Flags answer these questions too: see --help.";
